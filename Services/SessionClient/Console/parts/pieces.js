/** Small pieces that several pages are made of. */
import { h, steady } from '../core/view.js'
import { t } from '../core/language.js'
import { changed, model } from '../core/model.js'
import { problemOf } from '../core/problems.js'
import { picture } from '../net/api.js'
import { ringOf } from '../state/lists.js'
import { qrCode } from './qr-code.js'

export const button = (label, onclick, { kind = '', ...props } = {}) =>
  h('button', { type: 'button', class: `button ${kind}`, onclick, ...props }, label)

/** A labelled input. `hint` and `problem` are read out with it. */
export function field(label, props, { hint, problem } = {}) {
  const { id, tag = 'input', ...rest } = props
  const notes = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ')
  return h('div', { class: 'field' },
    h('label', { for: id }, label),
    h(tag, { id, 'aria-describedby': notes || undefined, 'aria-invalid': problem ? 'true' : undefined, ...rest }),
    hint && h('p', { id: `${id}-hint`, class: 'hint' }, hint),
    problem && refused(problem, { id: `${id}-problem` }))
}

const refused = (text, props) =>
  h('p', { class: 'problem', role: 'alert', mount: (element) => { element.scrollIntoView({ block: 'nearest' }) }, ...props }, text)

/** Why something was refused, where it was asked for. */
export const refusal = (place) => problemOf(place) && refused(problemOf(place).message)

/** Why a form was refused: `at(field)` is for beside that field, `rest()` for below all those, in case it belongs to none of them. */
export function refusals(problem) {
  const fields = []
  return {
    at: (field) => { fields.push(field); return problem?.field === field && problem.message },
    rest: () => problem && !fields.includes(problem.field) && refused(problem.message),
  }
}

export const toggle = (label, checked, onchange, { hint, ...props } = {}) =>
  h('label', { class: 'toggle' },
    h('input', { type: 'checkbox', role: 'switch', checked, onchange: (event) => onchange(event.target.checked), ...props }),
    h('span', {}, label, hint && h('small', {}, hint)))

/** One of a few choices, as buttons side by side. */
export const choices = (label, options, chosen, choose) =>
  h('div', { class: 'choices', role: 'group', 'aria-label': label }, Object.entries(options).map(([value, title]) =>
    h('button', { type: 'button', key: value, 'aria-pressed': value === chosen ? 'true' : 'false', onclick: () => choose(value) }, title)))

const tints = 8

/** A person's picture, or the first letters of the name. */
export function portrait(account, name, avatar, size = '') {
  const address = picture(account, avatar, changed)
  if (address) return h('img', { class: `portrait ${size}`, src: address, alt: '' })
  const letters = (name.match(/\p{L}+/gu) ?? ['?']).slice(0, 2).map((word) => [...word][0]).join('').toLocaleUpperCase()
  const tint = [...account].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % tints
  return h('span', { class: `portrait tint-${tint} ${size}`, 'aria-hidden': 'true' }, letters)
}

export const badge = (text, tone = '') => h('span', { class: `badge ${tone}` }, text)

/** What a page shows until the first state has arrived, or when there is nothing. */
export const waiting = () => h('p', { class: 'empty', role: 'status' }, h('span', { class: 'spinner' }), t`Loading…`)
/** The same for a whole page, which has a heading all the time. */
export const waitingPage = () => h('div', {}, h('h1', { class: 'visually-hidden' }, t`Loading`), waiting())
export const empty = (title, text, ...rest) => h('div', { class: 'empty' }, h('h2', {}, title), h('p', {}, text), rest)

/** What an address shows that leads nowhere. */
export const noSuchPage = (href, home) => h('div', { class: 'empty' },
  h('h1', {}, t`There is no such page`), h('p', {}, t`The address may be mistyped.`), h('a', { class: 'button', href }, home))

const radius = 90
const length = 2 * Math.PI * radius

/** The time that is left, as a ring that empties. Where nothing says that all is well, it isn't green. */
export function ring(checkIn, now, isUnsure = false) {
  const { share, tone, title, text } = ringAt(checkIn, now)
  return h('div', { class: `ring ${isUnsure && tone === 'good' ? 'neutral' : tone}`, role: 'timer', 'aria-label': t`Next check-in: ${text}` },
    h('svg', { viewBox: '0 0 200 200', 'aria-hidden': 'true' },
      h('circle', { class: 'track', cx: 100, cy: 100, r: radius }),
      h('circle', {
        class: 'rest', cx: 100, cy: 100, r: radius, 'stroke-dasharray': length, 'stroke-dashoffset': (length * (1 - share)).toFixed(2),
      })),
    h('div', { class: 'ring-text' }, h('strong', {}, title), h('span', {}, text)))
}

/** Of a kept deadline that has passed since, nobody knows whether it was missed. */
const ringAt = (checkIn, now) => (model.isKept && !checkIn.missed && checkIn.due <= now
  ? { ...ringOf(checkIn, now), tone: 'warning', title: t`Was due` } : ringOf(checkIn, now))

const codes = new Map()

/** A QR code as a picture that scales. It takes a while to compute, so it appears once the rest of the page has. */
export function qr(text) {
  if (!codes.has(text)) {
    codes.set(text, undefined)
    setTimeout(() => { codes.set(text, qrCode(text)); changed() })
  }
  const rows = codes.get(text)
  return steady('div', { class: 'qr' }, [rows], () => rows && drawing(rows))
}

function drawing(rows) {
  const path = rows.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x + 4} ${y + 4}h1v1h-1z` : ''))).join('')
  const size = rows.length + 8
  return h('svg', { viewBox: `0 0 ${size} ${size}`, role: 'img', 'aria-label': t`Your contact code as a QR code` },
    h('rect', { width: size, height: size, class: 'qr-light' }), h('path', { d: path, class: 'qr-dark' }))
}
