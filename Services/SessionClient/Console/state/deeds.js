/** Whether what somebody asked for is so by now, as the stream says. Pure functions of a request and the replica. */
import { second } from '../core/time.js'

/** How far off this device's idea of the server's time may be. */
const clockError = 2 * second

/**
 * Whether a request has nothing left to do, whatever became of its answer.
 * @param {object} replica of the account that asked
 * @param {boolean} isLive whether it is up to date
 */
export function isDone({ path, fields, created, isSent }, replica, isLive) {
  const { account, contacts } = replica ?? {}
  // That something isn't there says nothing before the request went out, or while news may be on their way.
  const areGone = (...times) => Boolean(isLive && isSent) && !times.some((since) => since <= created)
  switch (path.split('/').at(-1)) {
    case 'CheckIn': return account?.checkIn.last > created - clockError
    case 'RaiseAlert': return Boolean(account?.alertRaised)
    case 'ClearAlert': return Boolean(account) && areGone(account.alertRaised)
    case 'EndTrip': return Boolean(account && isLive && isSent) && account.trip?.id !== fields.trip
    case 'AcknowledgeAlarm': return contacts?.alarmAnswers?.some((one) => one.alarm === fields.alarm && one.responder === account?.account && one.answer === fields.answer && one.answered >= created - clockError) ?? false
    case 'ScheduleReminder': return [...(replica?.notifications?.scheduled ?? []), ...(replica?.notifications?.notifications ?? [])].some((one) => one.id === fields.id)
    case 'RespondToPing': return Boolean(contacts) && areGone(contacts.contacts.get(fields.contact)?.incomingPing)
    case 'RespondToAllPings': case 'ClearAllReceivedPings':
      return Boolean(contacts) && areGone(...[...contacts.contacts.values()].map((one) => one.incomingPing))
    default: return false
  }
}
