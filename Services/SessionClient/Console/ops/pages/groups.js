/** `/ops/groups`: group sessions, and each as it was at any position of its stream. */
import { h } from '../../core/view.js'
import { changed } from '../../core/model.js'
import { badge, waiting } from '../../parts/pieces.js'
import { watch } from '../feed.js'
import { ask } from '../key.js'
import { card, clock, panel, second, table, trouble } from '../pieces.js'

export const groups = () => [
  h('h1', {}, 'Group sessions'),
  panel('The newest sessions', 'groups', {
    none: 'There is no group session yet.', cells: { id: (id) => h('a', { href: `/ops/groups/${id}` }, `${id.slice(0, 13)}…`) },
  }),
]

/** Which position of which session is shown; the newest unless somebody chose. */
let chosen = { group: undefined, position: undefined }

export function group({ group: id }) {
  if (chosen.group !== id) chosen = { group: id, position: undefined }
  const { position } = chosen
  const panel = watch(`group ${id} ${position}`, () => ask('GET', `groups/${id}${position === undefined ? '' : `?at=${position}`}`), position === undefined ? 2 * second : undefined)
  if (panel.value) chosen.positions = panel.value.positions
  const { positions } = chosen
  return [
    h('h1', {}, 'Group session'),
    h('p', { class: 'hint' }, id),
    positions && slider(positions, position ?? positions.at(-1)),
    panel.problem ? trouble(panel.problem) : panel.value ? moment(panel.value.moment) : waiting(),
  ]
}

function slider(positions, position) {
  const place = positions.indexOf(position)
  const choose = (next) => { chosen.position = next === positions.length - 1 ? undefined : positions[next]; changed() }
  return h('section', { class: 'card slider', 'aria-label': 'Position' },
    h('label', { for: 'position' }, `Position ${position}`, h('small', {}, `event ${place + 1} of the last ${positions.length}`)),
    h('input', {
      id: 'position', type: 'range', min: 0, max: positions.length - 1, step: 1, value: place,
      oninput: (event) => choose(Number(event.target.value)),
    }))
}

function moment({ position, state, hash }) {
  const { participants = [], seats = [], ...rest } = state
  const people = Array.isArray(participants) ? participants : Object.values(participants)
  return [
    card('Who is in it', undefined, h('p', {}, badge(`position ${position}`), ' ', badge(`hash ${hash}`)),
      people.length ? table(people, { title: 'Participants', cells: { joined: (time) => clock(new Date(time / 1000).toISOString()) } }) : h('p', { class: 'hint' }, 'Nobody.')),
    card('State', undefined, h('pre', { tabindex: '0' }, JSON.stringify({ seats, ...rest }, null, 2))),
  ]
}
