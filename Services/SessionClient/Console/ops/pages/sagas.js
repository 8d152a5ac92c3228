/** `/ops/sagas`: operations that span services, and their steps. */
import { h } from '../../core/view.js'
import { panel, second, state, storyLink } from '../pieces.js'

export const sagas = () => [
  h('h1', {}, 'Operations'),
  panel('The newest operations', 'sagas', {
    none: 'No operation was started yet.', cells: { state, id: (id) => h('a', { href: `/ops/sagas/${id}` }, `${id.slice(0, 13)}…`) },
  }),
]

export const saga = ({ id }) => [
  h('h1', {}, 'Operation'),
  h('p', { class: 'hint' }, id, ' · ', h('a', { href: `/ops/story/${id}` }, 'its story')),
  panel('Steps', 'saga_steps', {
    values: { id }, pause: 2 * second, none: 'It has no steps yet, or retention deleted it.', cells: { outcome: state, command_id: storyLink },
  }),
]
