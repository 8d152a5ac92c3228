/** How requests are sent: which go before all others, which stay in order, and which take the place of others. A test compares all of it with the contracts. */

/** What requests are about that go before all others, by what they keep their order: no other request holds them up. Tabs of other
 * versions of the page know these by the same names. */
const urgent = {
  'check-in': 'CheckIn', trip: 'StartTrip ExtendTrip EndTrip', alert: 'RaiseAlert ClearAlert', 'alarm-answer': 'AcknowledgeAlarm',
  answer: 'RespondToPing', answers: 'RespondToAllPings ClearAllReceivedPings',
}
/** The same of the others. What isn't here is about a group session. */
const others = {
  profile: 'UpdateProfile', security: 'UpdateSecurity RemovePhone',
  checkInSettings: 'SetCheckInInterval SetDailyCheckIns SetCheckInReminders SetCheckInGrace PauseCheckIns ResumeCheckIns RunDrill',
  contact: 'UpdateContact RemoveContact BlockContact UnblockContact ApproveContactRequest DeclineContactRequest WithdrawContactRequest '
    + 'RequestRoleChange AcceptRoleChange DeclineRoleChange WithdrawRoleChange',
  newContact: 'AddContact', contactSettings: 'SetContactApproval ResetContactCode SetResponderTiers SetPingEscalation SetPingQuietHours',
  ping: 'SendPing CancelPing', notifications: 'MarkRead MarkAllRead ClearNotifications AnswerDrill ScheduleReminder CancelReminder',
  receipts: 'ShowNotifications', push: 'RegisterPush UnregisterPush', operations: 'CloseAccount',
}
const topics = Object.fromEntries(Object.entries({ ...urgent, ...others })
  .flatMap(([topic, names]) => names.split(' ').map((name) => [name, topic])))

export const isUrgent = (name) => topics[name] in urgent

/** What nobody waits for. */
export const isBackground = (lane) => lane === 'receipts'

/** What a request must stay in order with. The edit of one contact doesn't wait for another's. */
export function laneOf(name, { contact, group }) {
  const topic = topics[name] ?? 'group'
  const subject = contact ?? group
  return subject ? `${topic}-${subject}` : topic
}

/** What takes the place of an earlier one of its name, as long as that one wasn't sent, and of which others. */
const later = {
  CheckIn: '', ExtendTrip: '', EndTrip: 'ExtendTrip', RaiseAlert: '', ClearAlert: 'RaiseAlert', RespondToPing: '',
  SetCheckInInterval: 'SetDailyCheckIns', SetDailyCheckIns: 'SetCheckInInterval', SetCheckInReminders: '', SetCheckInGrace: '',
  PauseCheckIns: 'ResumeCheckIns', ResumeCheckIns: 'PauseCheckIns', SetContactApproval: '', SetResponderTiers: '', SetPingEscalation: '',
  SetPingQuietHours: '', SendPing: '', CancelPing: 'SendPing', MarkAllRead: '', RegisterPush: 'UnregisterPush', UnregisterPush: 'RegisterPush',
}
export const supersedes = (name, earlier) => name in later && [name, later[name]].includes(earlier)

export const nameOf = ({ path }) => path.split('/').at(-1)

/** A request with its lane and urgency as this version of the page has them: the one that stored it may have had others. */
export function placed(entry) {
  const name = nameOf(entry)
  return { ...entry, lane: laneOf(name, entry.fields), isUrgent: isUrgent(name) }
}
