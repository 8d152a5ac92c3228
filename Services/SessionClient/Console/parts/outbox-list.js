/** What waits to be sent, and what was refused: it can be seen and dropped. */
import { h } from '../core/view.js'
import { model } from '../core/model.js'
import { moment, now, second } from '../core/time.js'
import { drop } from '../net/outbox.js'
import { personName } from './names.js'
import { button } from './pieces.js'

/** What a request asks for, as its person knows it; `%` is the contact. */
const words = {
  UpdateContact: 'Your changes to %', RemoveContact: 'Removing %', BlockContact: 'Blocking %', UnblockContact: 'Unblocking %',
  SendPing: 'Asking %', CancelPing: 'No longer asking %', UpdateProfile: 'Your profile', AddContact: 'Adding somebody',
  ApproveContactRequest: 'Accepting a request', DeclineContactRequest: 'Declining a request', WithdrawContactRequest: 'Withdrawing a request',
  MarkRead: 'A notification as read', MarkAllRead: 'All notifications as read', SetCheckInInterval: 'How often you check in',
  SetCheckInReminders: 'Your reminders', StartTrip: 'Your trip', ExtendTrip: 'Another end of your trip', EndTrip: 'The end of your trip', RunDrill: 'Your drill', AnswerDrill: 'That you got a drill', PauseCheckIns: 'Your pause', ResumeCheckIns: 'The end of your pause', SetCheckInGrace: 'When others hear of a missed check-in', SetResponderTiers: 'Who hears first of a missed check-in', SendGroupMessage: 'A message', UpdateGame: 'A move', CloseAccount: 'Closing the account',
}

/** Another one by its name: `SeatClaim` as `Seat claim`. */
const plain = (name) => name.replace(/(?<=[a-z])([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`)

function titleOf({ path, fields }) {
  const name = path.split('/').at(-1)
  return (words[name] ?? plain(name)).replace('%', fields.contact ? personName(fields.contact) : 'a contact')
}

/** Most are decided before anybody could read about them; receipts are the page's own. What is urgent stands above the page. */
const isWorthSaying = ({ path, state, isUrgent, isStuck, created }) =>
  !isUrgent && !path.endsWith('/ShowNotifications')
  && (state === 'refused' || isStuck || (state === 'waiting' && created < now() - 3 * second))

export function outbox() {
  const entries = model.outbox.filter(isWorthSaying)
  if (!entries.length) return undefined
  return h('section', { class: 'card', 'aria-labelledby': 'outbox-title' },
    h('h2', { id: 'outbox-title' }, 'Not sent yet'),
    h('ul', { class: 'plain' }, entries.map((entry) =>
      h('li', { key: entry.id, class: 'line' },
        h('span', {}, h('strong', {}, titleOf(entry)), h('small', {}, standing(entry))),
        !entry.isSent || entry.state === 'refused' ? button('Drop', () => drop(entry.id), { kind: 'small' }) : undefined))))
}

const standing = ({ state, problem, isSent, created }) =>
  state === 'refused' ? problem.message : isSent ? `Trying since ${moment(created)}; no answer yet` : `Waiting since ${moment(created)}`
