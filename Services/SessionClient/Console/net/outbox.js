/**
 * What this person asked for and the server hasn't decided. Every request is stored before it is sent, with its
 * Idempotency-Key, so a lost answer, a reload or an offline spell neither loses it nor does it twice.
 *
 * Requests of one lane are sent in order, by one tab at a time (a Web Lock); lanes don't wait for each other, and the urgent ones and
 * what nobody waits for not for a place either. Any tab sends what is urgent of every account that is signed in in this browser; the rest is sent by tabs that
 * show its account. An entry: `{id, account, lane, isUrgent, path, fields, key, created, expires, state, problem, command, base}`,
 * where `state` is `waiting`, `done` (until its event has arrived) or `refused`; `isSent` once the server may have it, after so many
 * `sendings`; `isStuck` while it can't be sent; `tries` in vain since the connection was there, and `next`, when it is tried again.
 */
import { t } from '../core/language.js'
import { model, changed } from '../core/model.js'
import { isBackground, nameOf, placed, supersedes } from '../core/lanes.js'
import { newKey, now } from '../core/time.js'
import { all, put, remove, take, update } from './database.js'
import { Problem, Unreachable } from './http.js'
import { accessToken, NeedsSignIn } from './accounts.js'
import { ask, TooLate } from './api.js'
import { exclusively } from './locks.js'
import { isCounted, olderFields, rest, urgentRestOf, verdict } from './retries.js'
import { isDone } from '../state/deeds.js'
import { placeOf, rebased } from '../state/edits.js'

const channel = new BroadcastChannel('quartet-outbox')
channel.onmessage = ({ data }) => {
  reload()
  // Should the tab that sends it be closed, the next one that has the lane goes on.
  if (data.lane) drain(data.lane, data.isUrgent, data.account)
  else if (data.id) settle(data)
}

/** Whether an entry can't be sent for now. */
export const isHeldUp = (entry) => entry.isStuck || model.connection.name !== 'connected'

/** What waits in this tab for an entry's outcome, by the entry's id. */
const waiters = new Map()

/** Everything that is stored. */
const entries = async () => (await all('outbox')).map(placed)

/** Reads what is stored for the account of this tab, and what is urgent of others. */
export async function reload() {
  const stored = await entries()
  // The tab may have turned to another account while it read.
  model.outbox = stored.filter(({ account }) => account === model.account?.account)
  model.others = stored.filter(({ account, isUrgent }) =>
    isUrgent && account !== model.account?.account && model.accounts.some((one) => one.account === account))
  close()
  changed()
}

/**
 * Stores a request and sends it as soon as possible.
 * @param {object} options `lifetime`: for how long it is worth doing, in microseconds; `base`: what the changed fields were before, of
 *   an edit; `account`: another one than this tab's
 * @returns {Promise<object>} the answer. It rejects with a `Problem`, whose code is `superseded` if a later one took its place; with
 *   `Unreachable` if it waits for the network.
 */
export async function submit(path, fields, { lifetime, base, account = model.account.account } = {}) {
  const entry = placed({ account, path, fields, base, key: newKey(), created: now(), expires: now() + lifetime, state: 'waiting' })
  const { lane, isUrgent } = entry
  const id = (base && await merge(path, fields, base, lane)) ?? await put('outbox', entry)
  const outcome = new Promise((resolve, reject) => waiters.set(id, { resolve, reject }))
  // It may be decided before the caller has it.
  outcome.catch(() => {})
  try {
    await supersede({ ...entry, id })
    await reload()
  } catch (error) {
    // It is stored, so it is sent.
    console.warn(error)
  }
  channel.postMessage({ lane, isUrgent, account })
  drain(lane, isUrgent, account)
  return outcome
}

/** Ends what an entry takes the place of. What the server may have stays. */
async function supersede(entry) {
  // What was pressed later isn't meant, whichever was stored first.
  const isOver = (one) => one.id < entry.id && one.account === entry.account && one.lane === entry.lane
    && !(one.fields.pressed > entry.fields.pressed) && supersedes(nameOf(entry), nameOf(one))
  for (const one of (await entries()).filter(isOver)) {
    let problem
    await update('outbox', one.id, (stored) => {
      if (!isAs(one, stored) || stored.isSent) return stored
      problem = plain(new Problem(409, { code: 'superseded', detail: t`A later change took its place.` }))
      return { ...stored, state: 'refused', problem }
    })
    if (!problem) continue
    // Its person may rely on something urgent: that has a card, unless the same was asked for again.
    if (!one.isUrgent || nameOf(one) === nameOf(entry)) await remove('outbox', one.id)
    announce({ id: one.id, error: problem })
  }
}

/** Adds an edit to one of the same thing that wasn't sent yet. */
async function merge(path, fields, base, lane) {
  const waiting = (await entries()).find((entry) =>
    entry.account === model.account.account && entry.lane === lane && entry.path === path && entry.base
    && entry.state === 'waiting' && !entry.isSent)
  let id
  if (waiting) {
    await update('outbox', waiting.id, (entry) => {
      if (entry.isSent || entry.state !== 'waiting') return entry
      id = entry.id
      // Who turns it off again agrees to nothing by it.
      const { iAmResponder, ...others } = entry.fields
      const known = fields.notifyOnMissedCheckIn === false && iAmResponder ? others : entry.fields
      return { ...entry, fields: { ...known, ...fields }, base: { ...base, ...entry.base } }
    })
  }
  return id
}

/** Whether this tab sends what an account asked for. */
const isSentHere = (account, isUrgent) => account !== undefined && (account === model.account?.account
  || (isUrgent && model.accounts.some((one) => one.account === account && !one.signedOut)))

/** Sends everything that waits: called when the connection is back. What waited for that is tried at once, the urgent first. */
export async function drainAll(urgencies = [true, false]) {
  const waiting = (await entries()).filter(({ account, isUrgent, state }) => state === 'waiting' && isSentHere(account, isUrgent))
  for (const isUrgent of urgencies) {
    const those = waiting.filter((entry) => entry.isUrgent === isUrgent)
    for (const { id, next, isStuck } of those) {
      if (next && (isStuck || isUrgent)) await update('outbox', id, (stored) => ({ ...stored, tries: 0, next: undefined }))
    }
    const lanes = new Map(those.map(({ account, lane }) => [`${account}/${lane}`, { account, lane }]))
    for (const { account, lane } of lanes.values()) drain(lane, isUrgent, account)
  }
  await reload()
}

/** Sends what is urgent: called when this tab shows another account or none, and when the device has its network again. */
export const drainUrgent = () => drainAll([true])

/** How often the device got its network back. */
let returns = 0
addEventListener('online', () => { returns += 1; drainUrgent() })

/** Tells, when it is called, whether the device had no network since. */
function watchNetwork() {
  const isOffline = () => navigator.onLine === false
  const [wasOffline, before] = [isOffline(), returns]
  return () => wasOffline && isOffline() && returns === before
}

/** Tries an entry again now. */
export async function tryNow({ id, lane, isUrgent, account }) {
  await update('outbox', id, (stored) => ({ ...stored, next: undefined }))
  drain(lane, isUrgent, account)
}

/** Lanes that people wait for, aren't urgent and are sent at a time: a browser has six connections without HTTP/2, and the stream is one. */
const lanesAtOnce = 3
let busy = 0
const queue = []

async function inPlace(isFree, work) {
  if (isFree) return work()
  if (busy < lanesAtOnce) busy += 1
  else await new Promise((resolve) => queue.push(resolve))
  try {
    return await work()
  } finally {
    // The place goes on to the next one.
    if (queue.length) queue.shift()()
    else busy -= 1
  }
}

/** When lanes that rest go on: a timer for each. */
const timers = new Map()
/** A clock that was set back holds nothing up for longer. */
const longestRest = 90_000
/** For how long a lane rests that this browser couldn't even look at. */
const databaseRest = 5000

function drainLater(lane, isUrgent, account, time) {
  const name = `${account}/${lane}`
  clearTimeout(timers.get(name))
  timers.set(name, setTimeout(() => { timers.delete(name); drain(lane, isUrgent, account) }, time))
}

/** The lanes that this tab sends or waits for, and whether something came meanwhile. */
const draining = new Map()

async function drain(lane, isUrgent, account = model.account?.account) {
  if (!isSentHere(account, isUrgent)) return
  const name = `${account}/${lane}`
  if (draining.has(name)) return void draining.set(name, true)
  const send = () => exclusively(`quartet-outbox-${account}-${lane}`, () => sendFirst(lane, isUrgent, account), isUrgent)
  try {
    do {
      draining.set(name, false)
      while (await inPlace(isUrgent || isBackground(lane), send)) continue
    } while (draining.get(name))
  } catch (error) {
    console.warn(error)
    drainLater(lane, isUrgent, account, databaseRest)
  } finally {
    draining.delete(name)
  }
}

/** Sends the first entry of a lane; false if there is none, or if those behind it have to wait. */
async function sendFirst(lane, isUrgent, account) {
  const entry = (await entries()).find((one) => one.account === account && one.lane === lane && one.state === 'waiting')
  if (!entry || !isSentHere(account, isUrgent)) return false
  const time = Math.min((entry.next ?? 0) - Date.now(), longestRest)
  if (time <= 0) return attempt(entry)
  drainLater(lane, isUrgent, account, time)
  return false
}

/** Sends one entry; false if those behind it have to wait. */
async function attempt(entry) {
  if (entry.expires < now()) return conclude(entry, expired(entry))
  const wasCutOff = watchNetwork()
  let body, sendings
  try {
    // Without a token nothing goes out, and nothing is taken for sent.
    await accessToken(entry.account, undefined, entry.isUrgent)
    const done = await doneBefore(entry)
    await update('outbox', entry.id, (stored) => {
      // Another tab has gone on with it while this one was frozen.
      if (!isAs(entry, stored)) return stored
      if (!stored.isSent) stored = standingOn(done, stored)
      body = rebased(stored, stored.account === model.account?.account && !model.isKept ? model.replica : undefined)
      sendings = (stored.sendings ?? 0) + 1
      // From here on it keeps its body: the server may have it.
      return body instanceof Problem ? stored : { ...stored, body, isSent: true, sendings }
    })
    await reload()
    // Dropped in the meantime, or another tab's.
    if (body === undefined) return true
    if (body instanceof Problem) return conclude(entry, body)
    const { account, expires, isUrgent, key } = entry
    const { status, body: reply } = await ask('POST', entry.path, { body, key, account, expires, isUrgent })
    // Commands have an id of their own, operations theirs: without one it isn't Quartet that answered.
    if (!reply?.command && !reply?.id) throw new Unreachable(status)
    // Asked again under its key, an operation says how it stands.
    if (reply.state === 'running') return later(entry, new Problem(status, { code: 'noOutcomeYet' }))
    return conclude(entry, undefined, reply)
  } catch (error) {
    if (error instanceof TooLate) {
      if (!entry.isSent) await unsend(entry, sendings)
      return conclude(entry, expired(entry))
    }
    if (!(error instanceof Problem)) {
      const isUnsent = !entry.isSent && (error instanceof NeedsSignIn || (!error.status && wasCutOff()))
      if (isUnsent) await unsend(entry, sendings)
      return later(entry, error)
    }
    if (error.code === 'staleVersion' && entry.base) return again(entry, error)
    const older = olderFields(entry, error)
    // What may have happened already keeps its key: the server then says that it knows it, and does nothing.
    if (older) return renew(entry, { fields: older }, entry.isSent)
    if (error.code === 'idReused' && entry.isSent) return conclude(entry, expired(entry))
    switch (verdict(error, entry.failures)) {
      case 'decided': return conclude(entry, error)
      case 'later': return later(entry, error)
      case 'again': {
        // It didn't happen, and never will under this key.
        const failures = (entry.failures ?? 0) + (isCounted(error.code, entry.isUrgent) ? 1 : 0)
        return later(entry, error, { key: newKey(), body: undefined, isSent: undefined, failures }, urgentRestOf)
      }
    }
  }
}

/** The server has nothing of an entry; unless another tab, which took this one for dead, has sent it. */
const unsend = ({ id }, sendings) =>
  update('outbox', id, (stored) => (stored.sendings === sendings ? { ...stored, body: undefined, isSent: undefined } : stored))

/** Somebody else changed the same thing in the meantime: merges with what it is now, under a new key. */
async function again(entry, problem) {
  try {
    const { body: current } = await ask('GET', placeOf(entry), { account: entry.account })
    return await renew(entry, { current: current.contact ?? current })
  } catch (error) {
    return error instanceof Problem && verdict(error) === 'decided' ? conclude(entry, problem) : later(entry, error)
  }
}

/** Sends an entry once more at once, under a new key unless the server may have it under this one. */
async function renew(entry, fields, isSent) {
  let next
  const key = isSent ? entry.key : newKey()
  await update('outbox', entry.id, (stored) =>
    (isAs(entry, stored) ? (next = { ...stored, ...fields, key, body: undefined, isSent: isSent || undefined }) : stored))
  return next ? attempt(next) : true
}

/** It stays, and is tried again after a rest: one of its own, which grows. */
async function later(entry, error, fields = {}, limitOf = () => undefined) {
  const tries = (entry.tries ?? 0) + 1
  const isStuck = !(error instanceof Problem)
  // No longer than until it is too late for it.
  const left = Math.max(0, entry.expires - now()) / 1000 + 1
  const next = Date.now() + Math.min(rest(tries, entry.isUrgent, error.retryAfter, Math.random, limitOf(error.code, tries)), left)
  await update('outbox', entry.id, (stored) => (isAs(entry, stored) ? { ...stored, ...fields, tries, next, isStuck: isStuck || stored.isStuck } : stored))
  await reload()
  if (isStuck) announce({ id: entry.id, error: { isUnreachable: true, message: error.message } })
  return true
}

/** Whether an entry is still as a tab knows it: another one may have gone on with it while this one was frozen. */
const isAs = (entry, stored) => stored.state === 'waiting' && stored.key === entry.key

async function conclude(entry, problem, reply) {
  // Whatever became of the answer, it has happened.
  if (tooLate.includes(problem?.code) && isKnownDone(entry)) problem = undefined
  if (problem) {
    // Undefined if it was taken back.
    let isMine
    await update('outbox', entry.id, (stored) => {
      isMine = isAs(entry, stored)
      if (!isMine) return stored
      // It may have been sent by another tab.
      if (tooLate.includes(problem.code)) problem = expired(stored)
      return { ...stored, state: 'refused', problem: plain(problem) }
    })
    if (isMine === false) { await reload(); return true }
  } else if (reply?.event) {
    const made = wholes.includes(nameOf(entry)) ? { expectedVersion: reply.result?.version } : {}
    await update('outbox', entry.id, (stored) =>
      ({ ...stored, state: 'done', command: reply.command, from: stored.fields.expectedVersion, fields: { ...stored.fields, ...made } }))
    if (made.expectedVersion) await goOn(entry, made)
  } else {
    await remove('outbox', entry.id)
  }
  await reload()
  // A refused edit stays, so that it can be corrected; so does what nobody waits for any more, and what was urgent and is too late or
  // another account's. The rest is reported and over.
  const isKept = entry.base || entry.isStuck
    || (entry.isUrgent && (tooLate.includes(problem?.code) || entry.account !== model.account?.account
      // Somebody relies on it who may have closed the page before the answer came.
      || (problem?.code === 'alertChanged' && !waiters.has(entry.id))))
  if (problem && !isKept) await drop(entry.id)
  announce({ id: entry.id, error: problem && plain(problem), reply })
  return true
}

/** What is replaced as a whole, unless somebody else has changed it since. */
const wholes = ['SetResponderTiers', 'SetDailyCheckIns', 'SetCheckInInterval']

/** What is done of an entry's lane and was replaced as a whole: each entry has the version that it was made for, and the one that it made. */
const doneBefore = async (entry) => (wholes.includes(nameOf(entry)) ? await entries() : []).filter((one) =>
  one.account === entry.account && one.lane === entry.lane && one.state === 'done' && wholes.includes(nameOf(one)))

/** An entry for what others have made of the version that it was made for: it may have been stored when these had just been decided. */
function standingOn(done, entry) {
  let version = entry.fields.expectedVersion
  const next = () => done.find(({ from, fields }) => from === version && fields.expectedVersion > from)
  for (let one = next(); one; one = next()) version = one.fields.expectedVersion
  return version === entry.fields.expectedVersion ? entry : { ...entry, fields: { ...entry.fields, expectedVersion: version } }
}

/** What waits behind an entry and was made for the same version stands on what that has made of it. */
async function goOn(entry, made) {
  const seen = entry.fields.expectedVersion
  for (const one of await entries()) {
    if (one.account !== entry.account || one.lane !== entry.lane || !wholes.includes(nameOf(one)) || one.fields.expectedVersion !== seen) continue
    await update('outbox', one.id, (stored) => (isAs(one, stored) && !stored.isSent ? { ...stored, fields: { ...stored.fields, ...made } } : stored))
  }
}

/** How many heartbeats there were when an entry was first seen to be done, by its id. */
const marks = new Map()
/** After so many heartbeats, the stream had every event that was there before them. */
const heartbeatsAwaited = 2

/** Whether an entry's account has what it asked for, as far as this tab hears of it. */
export const isKnownDone = (entry) =>
  entry.account === model.account?.account && !model.isKept && isDone(entry, model.replica, model.connection.name === 'connected')

/** Ends the entries whose events have arrived: what they changed is part of the state now. So is what was too late, and happened. */
export function close() {
  const { seen = [], heartbeats = 0 } = model.replica ?? {}
  const hasEnded = (entry) => {
    const { id, state, command } = entry
    if (state === 'refused') return isKnownDone(entry)
    if (state !== 'done') return false
    if (!(marks.get(id) <= heartbeats)) marks.set(id, heartbeats)
    // A snapshot may have had it before the answer came: then its event never does.
    return seen.includes(command) || heartbeats - marks.get(id) >= heartbeatsAwaited
  }
  const ended = model.outbox.filter(hasEnded)
  if (!ended.length) return
  model.outbox = model.outbox.filter((entry) => !ended.includes(entry))
  for (const { id } of ended) {
    marks.delete(id)
    remove('outbox', id)
  }
}

/** Another tab passed on its state, whose heartbeats are counted from elsewhere. */
export function closeAnew() {
  marks.clear()
  close()
}

/** Ends all that are done: a new snapshot has what they changed. */
export function closeAll() {
  close()
  for (const { id, state } of model.outbox) if (state === 'done') remove('outbox', id)
  model.outbox = model.outbox.filter((entry) => entry.state !== 'done')
  marks.clear()
}

/** Forgets an entry, whether or not it was sent. */
export async function drop(id) {
  await takeBack({ id })
}

/** Forgets an entry. Resolves with whether the server may have it: what is stored says so, not what a tab shows. */
export async function takeBack({ id }) {
  const stored = await take('outbox', id)
  await reload()
  // Other tabs show it, too.
  channel.postMessage({})
  return !stored || Boolean(stored.isSent)
}

const tooLate = ['expired', 'unknown']

/** The server may have got what was sent, and the answer be lost. */
const expired = ({ isSent }) => new Problem(504, isSent
  ? { code: 'unknown', detail: t`No answer came in time, so it isn’t known whether it was done. Look before you do it again.` }
  : { code: 'expired', detail: t`It couldn’t be sent in time, so it wasn’t done.` })
const plain = ({ status, code, message, field, retryAfter, current }) => ({ status, code, message, field, retryAfter, current })

function announce(outcome) {
  channel.postMessage(outcome)
  settle(outcome)
}

function settle({ id, error, reply }) {
  const waiter = waiters.get(id)
  waiters.delete(id)
  if (!error) waiter?.resolve(reply)
  else if (error.isUnreachable) waiter?.reject(new Unreachable())
  else waiter?.reject(Object.assign(new Problem(error.status, { ...error, detail: error.message })))
}
