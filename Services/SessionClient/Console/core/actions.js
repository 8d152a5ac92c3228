/** What a person can do, as the pages call it. Everything goes through the outbox; a failure becomes a toast. */
import { t } from './language.js'
import { isUrgent, nameOf } from './lanes.js'
import { model } from './model.js'
import { setProblem } from './problems.js'
import { day, hour, minute, second } from './time.js'
import { toast } from './toasts.js'
import { submit } from '../net/outbox.js'
import { ask } from '../net/api.js'
import { Unreachable } from '../net/http.js'
import { confirmIdentity } from '../parts/dialogs.js'

/** Does it; what needs a confirmation is repeated after it. */
export async function confirmed(work) {
  try {
    return await work()
  } catch (error) {
    if (error.code === 'confirmationRequired' && await confirmIdentity(error.message)) return confirmed(work)
    throw error
  }
}

/**
 * Does it, and says why it failed.
 * @param {string | function(object): string} done what is said then; of some things the answer says what has become of them
 * @param {object} options `at`: where a refusal is shown (core/problems.js), otherwise for a moment; `isUrgent`: what doesn't get
 *   through has a card that stays (parts/banners.js); `isKept`: whether it is sent later by itself
 */
export async function attempt(work, done, { at, isUrgent = false, isKept = true } = {}) {
  const [account, { path }] = [model.account?.account, model.route]
  const say = (text, tone) => { if (model.account?.account === account) toast(text, tone) }
  if (at) setProblem(at)
  try {
    const reply = await confirmed(work)
    const words = typeof done === 'function' ? done(reply) : done
    if (words) say(words, 'good')
    return reply ?? true
  } catch (error) {
    if (['confirmationRequired', 'superseded'].includes(error.code)) {
      // The person decided not to, or otherwise since.
    } else if (isKept && error instanceof Unreachable) {
      if (!isUrgent) say(t`Not sent yet. It’s tried again for as long as it makes sense.`, 'warning')
    } else if (at && model.route.path === path && model.account?.account === account) {
      setProblem(at, error)
    } else {
      say(error.message, 'critical')
    }
    return undefined
  }
}

/** For how long a request may be sent for the first time: later it would mean something else. A test compares it with the contracts'. */
const lifetimes = {
  CheckIn: 5 * minute, RaiseAlert: day, ClearAlert: day, CloseAccount: day, SendPing: hour, CancelPing: hour, RespondToPing: hour, AcknowledgeAlarm: hour,
  PauseCheckIns: 10 * minute, SetResponderTiers: 10 * minute, SetPingEscalation: 10 * minute, SetPingQuietHours: 10 * minute, StartTrip: 5 * minute, ExtendTrip: 5 * minute, EndTrip: day, RunDrill: 30 * second, AnswerDrill: hour, RespondToAllPings: hour, ClearAllReceivedPings: hour,
}

/** A group session goes on without what comes late; an edit can wait for weeks. */
export const lifetimeOf = (name, { group }) => lifetimes[name] ?? (group || name === 'CreateGroupSession' ? 10 * second : 29 * day)

/** A request that wasn't decided yet, or whose event hasn't arrived; undefined if there is none with these fields. */
export const underway = (name, fields = {}) => model.outbox.find((entry) =>
  entry.path.endsWith(`/${name}`) && entry.state !== 'refused' && Object.keys(fields).every((field) => entry.fields[field] === fields[field]))

/**
 * For which version a change is made of what it replaces as a whole: the present one, or what this browser has made of it whose event
 * hasn't arrived.
 */
export const versionFor = (present = 0, ...names) => Math.max(present, ...model.outbox
  .filter((entry) => entry.state !== 'refused' && names.includes(nameOf(entry))).map((entry) => entry.fields.expectedVersion ?? 0))

/** The same of the interval and the daily times. */
export const checkInVersion = () => versionFor(model.replica.account.checkIn.version, 'SetCheckInInterval', 'SetDailyCheckIns')

/** Sends a command. */
export const command = (name, fields = {}, options = {}) =>
  submit(`/v1/commands/${name}`, fields, { lifetime: lifetimeOf(name, fields), ...options })

/** Sends a command and reports a failure, there if a place is given. */
export const act = (name, fields, done, at) => attempt(() => command(name, fields), done, { at, isUrgent: isUrgent(name) })

/** Starts an operation over several services. */
export const operate = (name, fields = {}, done, at) =>
  attempt(() => submit(`/v1/operations/${name}`, fields, { lifetime: lifetimeOf(name, fields) }), done, { at, isUrgent: isUrgent(name) })

/** Sends something that is never kept: it has a password or a code in it. */
export const askNow = (method, path, options, done, at) =>
  attempt(async () => (await ask(method, path, options)).body, done, { at, isKept: false })
