/** What waits to be sent, and what was refused: it can be seen and dropped. */
import { h } from '../core/view.js'
import { model } from '../core/model.js'
import { ago, now, second } from '../core/time.js'
import { drop } from '../net/outbox.js'
import { personName } from './names.js'
import { button } from './pieces.js'

/** `UpdateContact` as `Update contact`. */
const words = (path) => path.split('/').at(-1).replace(/(?<=[a-z])([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`)

/** Most are decided before anybody could read about them. */
const isWorthSaying = ({ state, isStuck, created }) =>
  state === 'refused' || isStuck || (state === 'waiting' && created < now() - 3 * second)

export function outbox() {
  const entries = model.outbox.filter(isWorthSaying)
  if (!entries.length) return undefined
  return h('section', { class: 'card', 'aria-labelledby': 'outbox-title' },
    h('h2', { id: 'outbox-title' }, 'Not sent yet'),
    h('ul', { class: 'plain' }, entries.map(({ id, path, fields, created, state, problem, isSent }) =>
      h('li', { key: id, class: 'line' },
        h('span', {}, h('strong', {}, words(path), fields.contact && ` (${personName(fields.contact)})`),
          h('small', {}, state === 'refused' ? problem.message : isSent ? `Sent ${ago(created)}; waiting for the answer` : `Waiting since ${ago(created)}`)),
        !isSent || state === 'refused' ? button('Drop', () => drop(id), { kind: 'small' }) : undefined))))
}
