/** What waits to be sent, and what was refused: it can be seen and dropped. */
import { h } from '../core/view.js'
import { t } from '../core/language.js'
import { model } from '../core/model.js'
import { moment, now, second } from '../core/time.js'
import { drop } from '../net/outbox.js'
import { personName } from './names.js'
import { button } from './pieces.js'

/** What a request asks for, as its person knows it; given the contact's name. */
const words = {
  UpdateContact: (name) => t`Your changes to ${name}`,
  RemoveContact: (name) => t`Removing ${name}`,
  BlockContact: (name) => t`Blocking ${name}`,
  UnblockContact: (name) => t`Unblocking ${name}`,
  SendPing: (name) => t`Asking ${name}`,
  CancelPing: (name) => t`No longer asking ${name}`,
  UpdateProfile: () => t`Your profile`,
  AddContact: () => t`Adding somebody`,
  ApproveContactRequest: () => t`Accepting a request`,
  DeclineContactRequest: () => t`Declining a request`,
  WithdrawContactRequest: () => t`Withdrawing a request`,
  MarkRead: () => t`A notification as read`,
  MarkAllRead: () => t`All notifications as read`,
  SetCheckInInterval: () => t`How often you check in`,
  SetDailyCheckIns: () => t`At which times you check in`,
  SetCheckInReminders: () => t`Your reminders`,
  StartTrip: () => t`Your trip`,
  ExtendTrip: () => t`Another end of your trip`,
  EndTrip: () => t`The end of your trip`,
  RunDrill: () => t`Your drill`,
  AnswerDrill: () => t`That you got a drill`,
  ScheduleReminder: () => t`A reminder`,
  CancelReminder: () => t`Taking back a reminder`,
  PauseCheckIns: () => t`Your pause`,
  ResumeCheckIns: () => t`The end of your pause`,
  SetCheckInGrace: () => t`When others hear of a missed check-in`,
  SetResponderTiers: () => t`Who hears first of a missed check-in`,
  SetPingEscalation: () => t`When an unanswered ping raises an alert`,
  SetPingQuietHours: () => t`Your quiet hours`,
  SendGroupMessage: () => t`A message`,
  UpdateGame: () => t`A move`,
  CloseAccount: () => t`Closing the account`,
}

function titleOf({ path, fields }) {
  const name = path.split('/').at(-1)
  return words[name]?.(fields.contact ? personName(fields.contact) : t`a contact`) ?? t`A change`
}

/** Most are decided before anybody could read about them; receipts are the page's own. What is urgent stands above the page. */
const isWorthSaying = ({ path, state, isUrgent, isStuck, created }) =>
  !isUrgent && !path.endsWith('/ShowNotifications')
  && (state === 'refused' || isStuck || (state === 'waiting' && created < now() - 3 * second))

export function outbox() {
  const entries = model.outbox.filter(isWorthSaying)
  if (!entries.length) return undefined
  return h('section', { class: 'card', 'aria-labelledby': 'outbox-title' },
    h('h2', { id: 'outbox-title' }, t`Not sent yet`),
    h('ul', { class: 'plain' }, entries.map((entry) =>
      h('li', { key: entry.id, class: 'line' },
        h('span', {}, h('strong', {}, titleOf(entry)), h('small', {}, standing(entry))),
        !entry.isSent || entry.state === 'refused' ? button(t`Drop`, () => drop(entry.id), { kind: 'small' }) : undefined))))
}

const standing = ({ state, problem, isSent, created }) =>
  state === 'refused' ? problem.message : isSent ? t`Trying since ${moment(created)}; no answer yet` : t`Waiting since ${moment(created)}`
