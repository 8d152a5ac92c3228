/** `/ops/story`: everything that one request led to, as a tree with times. */
import { h } from '../../core/view.js'
import { changed } from '../../core/model.js'
import { go } from '../../core/router.js'
import { empty, field, waiting } from '../../parts/pieces.js'
import { watch } from '../feed.js'
import { rows } from '../key.js'
import { card, late, second, state, trouble } from '../pieces.js'

let typed = ''

const search = () => h('form', {
  class: 'card', onsubmit: (event) => { event.preventDefault(); go(`/ops/story/${encodeURIComponent(typed.trim())}`) },
},
  field('Whose story', {
    id: 'story-id', value: typed, required: true, autocomplete: 'off', placeholder: '01a1fc74-…',
    oninput: (event) => { typed = event.target.value; changed() },
  }, { hint: 'The id of a request, a message, a command or an operation.' }),
  h('div', { class: 'actions' }, h('button', { class: 'button primary' }, 'Show')))

export const stories = () => [
  h('h1', {}, 'Stories'), search(),
  tree('The newest request', 'last_story', watch('last_story', () => rows('last_story'), 5 * second)),
]

export function story({ id }) {
  const panel = watch(`story ${id}`, () => rows('story', { id }), 2 * second)
  // An id that no index knows is searched for in all logs.
  if (panel.value?.length === 0) panel.pause = 30 * second
  return [h('h1', {}, 'Story'), search(), tree(`Story of ${id}`, 'story', panel)]
}

function tree(title, name, { value, problem }) {
  return card(title, name,
    problem ? trouble(problem) : !value ? waiting()
      : value.length ? h('ol', { class: 'story' }, value.map((row) => step(row, value)))
        : empty('Nothing is known of it', 'The id may be mistyped, or retention deleted it.'))
}

function step({ at, ms, tree: branch, log, part, position, kind, outcome, took_ms: took, body }, all) {
  const depth = branch.length - branch.trimStart().length
  const total = Math.max(...all.map((row) => Number(row.ms)), 1)
  return h('li', { key: `${log}/${part}/${position}`, style: { '--depth': depth / 2, '--begins': `${(100 * ms) / total}%` } },
    h('div', { class: 'story-line' },
      h('strong', {}, branch.trim().replace(/^└ /, '')), h('span', { class: 'badge' }, kind), outcome && state(outcome),
      h('span', { class: 'story-time' }, `${at} · after ${late(Number(ms))}${took === null ? '' : ` · took ${late(Number(took))}`}`)),
    h('small', {}, `${log} ${part}:${position} `, h('code', {}, body)),
    h('div', { class: 'story-bar', 'aria-hidden': 'true' }))
}
