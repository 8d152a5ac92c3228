/** What several pages for operators are made of. */
import { h } from '../core/view.js'
import { badge, waiting } from '../parts/pieces.js'
import { ask, rows } from './key.js'
import { watch } from './feed.js'

export const second = 1000

/** A named query as `{help, sql, parameters}`, once it is known. */
const named = (name) => allQueries().find((one) => one.name === name)
export const allQueries = () => watch('queries', async () => (await ask('GET', 'queries')).queries).value ?? []

/**
 * A named query as a card with a table and its SQL.
 * @param {object} options `values` (parameters), `pause`, `none` (what to say without rows), `cells` (by column), `first` and `hidden` (columns), `actions(row)`
 */
export function panel(title, name, { values = {}, pause = 10 * second, none = 'Nothing.', view = table, ...options } = {}) {
  const { value, problem } = watch(`${name} ${JSON.stringify(values)}`, () => rows(name, values), pause)
  return card(title, name, problem ? trouble(problem) : !value ? waiting() : value.length ? view(value, { title, ...options }) : h('p', { class: 'hint' }, none))
}

/** A card that says where its figures come from. */
export const card = (title, name, ...inside) =>
  h('section', { class: 'card', 'aria-label': title },
    h('div', { class: 'title-line' }, h('h2', {}, title), name && sqlOf(name)), ...inside)

export const trouble = (problem) => h('p', { class: 'notice critical', role: 'alert' }, problem.message)

/** The SQL of a named query, which anybody can run in psql. */
export function sqlOf(name) {
  const query = named(name)
  return query && h('details', { class: 'sql' },
    h('summary', {}, 'SQL'), h('p', { class: 'hint' }, `${query.help}. In make psql: :${name}`),
    h('pre', { tabindex: '0' }, query.sql))
}

const isNumber = (value) => typeof value === 'number' || (typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value))

/** Texts of more letters than this may take several lines. */
const long = 50

const isMissing = (value) => value === null || value === undefined || value === ''

/** Columns of numbers are aligned on the right. */
const kind = (list, column) =>
  list.every((row) => isMissing(row[column]) || isNumber(row[column])) && list.some((row) => !isMissing(row[column])) ? 'number' : undefined

/** Rows of any query. */
export function table(list, { title, cells = {}, first = [], hidden = [], actions } = {}) {
  const columns = [...new Set([...first, ...list.flatMap(Object.keys)])].filter((column) => !hidden.includes(column))
  return h('div', { class: 'scrolls', tabindex: '0', role: 'region', 'aria-label': `${title}, a table` },
    h('table', {},
      h('thead', {}, h('tr', {},
        actions && h('th', { scope: 'col', key: 'actions' }, h('span', { class: 'visually-hidden' }, 'what to do')),
        columns.map((column) => h('th', { scope: 'col', class: kind(list, column), key: column }, column.replaceAll('_', ' '))))),
      h('tbody', {}, list.map((row) => h('tr', {},
        actions && h('td', { key: 'actions' }, actions(row)),
        columns.map((column) => h('td', { class: shown(row[column]).length > long ? 'long' : kind(list, column), key: column },
          (cells[column] ?? shown)(row[column], row))))))))
}

const shown = (value) =>
  isMissing(value) ? '–' : typeof value === 'object' ? JSON.stringify(value) : String(value)

/** An id that leads to its story. */
export const storyLink = (id) => (id ? h('a', { href: `/ops/story/${id}` }, `${id.slice(0, 8)}…`) : '–')

const tones = { well: 'good', accepted: 'good', done: 'good', held: 'good', open: 'critical', failed: 'critical', rejected: 'warning', running: 'warning' }

export const state = (value) => (value ? badge(value, tones[value] ?? 'warning') : '–')

/** Milliseconds in a unit that fits. */
export function late(ms) {
  if (ms === null || ms === undefined) return '–'
  if (Math.abs(ms) < 1000) return `${ms} ms`
  if (Math.abs(ms) < 120_000) return `${(ms / 1000).toFixed(1)} s`
  return Math.abs(ms) < 7_200_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`
}

/** A time of the server, to the millisecond. */
export const clock = (text) => (text ? h('time', { datetime: text, title: text }, text.replace('T', ' ').slice(0, 23)) : '–')

/** Lines over time: `series` is `{name: [numbers]}`, the newest last. */
export function chart(title, series, unit) {
  const names = Object.keys(series)
  const all = names.flatMap((name) => series[name]).filter((value) => value !== undefined)
  const top = Math.max(...all, 1e-9)
  const last = (name) => series[name].at(-1)
  return h('figure', { class: 'chart' },
    h('figcaption', {}, h('strong', {}, title), names.map((name, place) =>
      h('span', { class: `series-${place}`, key: name }, `${name} ${last(name) === undefined ? '–' : round(last(name))} ${unit}`))),
    h('svg', { viewBox: '0 0 300 80', preserveAspectRatio: 'none', role: 'img', 'aria-label': `${title}, the last minutes; at most ${round(top)} ${unit}` },
      h('path', { class: 'grid', d: 'M0 79.5H300M0 40H300' }),
      names.map((name, place) => h('path', { key: name, class: `series-${place}`, d: path(series[name], top) }))))
}

const points = 150
const round = (number) => (number >= 100 ? Math.round(number) : Number(number.toPrecision(2)))

function path(values, top) {
  let pen = 'M'
  return values.map((value, place) => {
    if (value === undefined) { pen = 'M'; return '' }
    const x = 300 - (values.length - 1 - place) * (300 / points)
    const text = `${pen}${x.toFixed(1)} ${(78 - 76 * value / top).toFixed(1)}`
    pen = 'L'
    return text
  }).join('')
}

/** At most as many points as a chart shows. */
export const keep = (list, value) => [...(list ?? []), value].slice(-points)
