/** Which requests go before all others, and which of them stay in order. */

/** What goes before all others, and by what those of one kind keep their order: no other command holds it up. A test compares the list with the contracts'. */
const urgent = { CheckIn: 'check-in', StartTrip: 'trip', ExtendTrip: 'trip', EndTrip: 'trip', RaiseAlert: 'alert', ClearAlert: 'alert', AcknowledgeAlarm: 'alarm-answer', RespondToPing: 'answer', RespondToAllPings: 'answers', ClearAllReceivedPings: 'answers' }
export const isUrgent = (name) => name in urgent

const lanes = {
  contact: ['SendPing', 'CancelPing', 'UpdateContact', 'RemoveContact', 'BlockContact', 'UnblockContact',
    'ApproveContactRequest', 'DeclineContactRequest', 'WithdrawContactRequest', 'RequestRoleChange', 'AcceptRoleChange',
    'DeclineRoleChange', 'WithdrawRoleChange'],
  contacts: ['AddContact', 'SetContactApproval', 'ResetContactCode', 'SetResponderTiers', 'SetPingQuietHours'],
  notifications: ['MarkRead', 'MarkAllRead', 'ClearNotifications', 'ShowNotifications', 'AnswerDrill', 'ScheduleReminder', 'CancelReminder'],
}

/** What a command must stay in order with. The edit of one contact doesn't wait for another's. */
export function laneOf(name, { contact, group }) {
  // For one responder or for all.
  if (name === 'SetPingEscalation') return contact ? `contact-${contact}` : 'contacts'
  if (name in urgent) return contact ? `${urgent[name]}-${contact}` : urgent[name]
  // What is said doesn't wait for moves.
  if (name === 'SendGroupMessage') return `messages-${group}`
  if (group || name === 'CreateGroupSession') return `group-${group ?? 'new'}`
  const lane = Object.keys(lanes).find((lane) => lanes[lane].includes(name)) ?? 'account'
  return lane === 'contact' ? `contact-${contact}` : lane
}

/** What an operation over several services must stay in order with. */
export const laneOfOperation = (name) => urgent[name] ?? 'operations'

/** A stored request with its lane and urgency as this version of the page has them: the one that stored it may have had others. */
export function placed(entry) {
  const [kind, name] = entry.path.split('/').slice(-2)
  const lane = kind === 'operations' ? laneOfOperation(name) : laneOf(name, entry.fields)
  return { ...entry, lane, isUrgent: isUrgent(name) }
}
