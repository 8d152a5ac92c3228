/** What a person can do, as the pages call it. Everything goes through the outbox; a failure becomes a toast. */
import { isUrgent, laneOf, laneOfOperation } from './lanes.js'
import { model } from './model.js'
import { day, minute } from './time.js'
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

/** Does it, and says why it failed. */
export async function attempt(work, done, isUrgent = false) {
  const account = model.account?.account
  const say = (text, tone) => { if (model.account?.account === account) toast(text, tone) }
  try {
    const reply = await confirmed(work)
    if (done) say(done, 'good')
    return reply ?? true
  } catch (error) {
    if (error.code === 'confirmationRequired') {
      // The person decided not to.
    } else if (error instanceof Unreachable) {
      // What is urgent has a card that stays (parts/banners.js).
      if (!isUrgent) say('Not sent yet. It’s kept here, and sent when the connection is back.', 'warning')
    } else {
      say(error.message, 'critical')
    }
    return undefined
  }
}

/** For how long a request is worth doing, when it can't be sent at once. */
const lifetimes = { CheckIn: 10 * minute, SendPing: 10 * minute, CancelPing: day, RaiseAlert: day, ClearAlert: day, SendGroupMessage: day }

/** A seat or a move is for now; an edit can wait for weeks. */
const lifetimeOf = (name, { group }) => lifetimes[name] ?? (group || name === 'CreateGroupSession' ? minute : 28 * day)

/** A request that wasn't decided yet, or whose event hasn't arrived; undefined if there is none with these fields. */
export const underway = (name, fields = {}) => model.outbox.find((entry) =>
  entry.path.endsWith(`/${name}`) && entry.state !== 'refused' && Object.keys(fields).every((field) => entry.fields[field] === fields[field]))

/** Sends a command. */
export const command = (name, fields = {}, options = {}) =>
  submit(`/v1/commands/${name}`, fields, { lane: laneOf(name, fields), isUrgent: isUrgent(name), lifetime: lifetimeOf(name, fields), ...options })

/** Sends a command and reports a failure. */
export const act = (name, fields, done) => attempt(() => command(name, fields), done, isUrgent(name))

/** Starts an operation over several services. */
export const operate = (name, fields, done) =>
  attempt(() => submit(`/v1/operations/${name}`, fields ?? {}, { lane: laneOfOperation(name), isUrgent: isUrgent(name), lifetime: day }), done, isUrgent(name))

/** Sends something that is never kept: it has a password or a code in it. */
export const askNow = (method, path, body, done) => attempt(async () => (await ask(method, path, { body })).body, done)
