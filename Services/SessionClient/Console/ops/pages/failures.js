/** `/ops/dead`: dead letters and parked messages, and what can be done about them. */
import { h } from '../../core/view.js'
import { actButton } from '../acts.js'
import { panel, second, state, storyLink } from '../pieces.js'

export const failures = () => [
  h('h1', {}, 'Failures'),
  panel('Dead letters', 'dead_letters', {
    pause: 3 * second, none: 'No message was given up.', first: ['state', 'type', 'error', 'died'],
    cells: { state, message_id: (id) => storyLink(id) },
    actions: (row) => row.state === 'open' && h('div', { class: 'actions' },
      actButton('Retry', {
        title: 'Send it again?', text: `${row.type} of ${row.key} goes out once more, as a new command.`,
        path: 'retry-dead-letter', body: { message: row.message_id }, done: 'Sent again.',
      }),
      actButton('Discard', {
        title: 'Discard it?', text: `Nothing more will be done about ${row.type} of ${row.key}.`, kind: 'danger-quiet',
        path: 'discard-dead-letter', body: { message: row.message_id }, done: 'Discarded.',
      })),
  }),
  panel('Parked messages', 'parked', {
    pause: 3 * second, none: 'No message is parked.', first: ['state', 'type', 'error', 'attempts', 'retry_in'],
    cells: { state },
    actions: (row) => row.attempts > 0 && row.state !== 'discarded' && h('div', { class: 'actions' },
      actButton('Retry now', {
        title: 'Retry it now?', text: `${row.consumer} tries ${row.type} of ${row.key} at once.`,
        path: 'retry-parked', body: { service: row.consumer, source: row.source, key: row.key }, done: 'It is tried now.',
      }),
      actButton('Discard', {
        title: 'Give it up?', text: `${row.type} becomes a dead letter, and the next message of ${row.key} is tried.`, kind: 'danger-quiet',
        path: 'discard-parked', body: { service: row.consumer, source: row.source, key: row.key }, done: 'Given up.',
      })),
  }),
]
