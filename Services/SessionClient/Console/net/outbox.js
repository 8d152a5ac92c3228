/**
 * What this person asked for and the server hasn't decided. Every request is stored before it is sent, with its
 * Idempotency-Key, so a lost answer, a reload or an offline spell neither loses it nor does it twice.
 *
 * Requests of one lane are sent in order, by one tab at a time (a Web Lock); lanes don't wait for each other. An entry:
 * `{id, account, lane, path, fields, key, created, expires, state, problem, command, base}`, where `state` is `waiting`,
 * `done` (until its event has arrived) or `refused`; `isSent` once the server may have it, `isStuck` while it can't be sent.
 */
import { model, changed } from '../core/model.js'
import { newKey, now } from '../core/time.js'
import { all, get, put, remove, update } from './database.js'
import { Problem, Unreachable } from './http.js'
import { ask } from './api.js'
import { placeOf, rebased } from '../state/edits.js'

const channel = new BroadcastChannel('quartet-outbox')
channel.onmessage = ({ data }) => {
  reload()
  // Should the tab that sends it be closed, the next one that has the lane goes on.
  if (data.lane) drain(data.lane, data.account)
  else settle(data)
}

/** Whether an entry can't be sent for now. */
export const isHeldUp = (entry) => entry.isStuck || model.connection.name !== 'connected'

/** What waits in this tab for an entry's outcome, by the entry's id. */
const waiters = new Map()

/** Reads what is stored for the account of this tab. */
export async function reload() {
  const account = model.account?.account
  model.outbox = (await all('outbox')).filter((entry) => entry.account === account)
  close()
  model.outbox.forEach(closeLater)
  changed()
}

/** For how long what is done shows without its event: a snapshot may have had it before the answer came. */
const grace = 5000
const closing = new Set()

function closeLater({ id, state }) {
  if (state !== 'done' || closing.has(id)) return
  closing.add(id)
  setTimeout(() => {
    closing.delete(id)
    if (model.outbox.some((entry) => entry.id === id)) drop(id)
  }, grace)
}

/**
 * Stores a request and sends it as soon as possible.
 * @param {object} options `lane`: what it must stay in order with; `lifetime`: for how long it is worth doing, in
 *   microseconds; `base`: what the changed fields were before, of an edit
 * @returns {Promise<object>} the answer. It rejects with a `Problem`; with `Unreachable` if it waits for the network.
 */
export async function submit(path, fields, { lane, lifetime, base } = {}) {
  const merged = base && await merge(path, fields, base, lane)
  const id = merged ?? await put('outbox', {
    account: model.account.account, lane, path, fields, base, key: newKey(), created: now(), expires: now() + lifetime,
    state: 'waiting',
  })
  const outcome = new Promise((resolve, reject) => waiters.set(id, { resolve, reject }))
  await reload()
  channel.postMessage({ lane, account: model.account.account })
  drain(lane)
  return outcome
}

/** Adds an edit to one of the same thing that wasn't sent yet. */
async function merge(path, fields, base, lane) {
  const waiting = (await all('outbox')).find((entry) =>
    entry.account === model.account.account && entry.lane === lane && entry.path === path && entry.base
    && entry.state === 'waiting' && !entry.isSent)
  let id
  if (waiting) {
    await update('outbox', waiting.id, (entry) => {
      if (entry.isSent || entry.state !== 'waiting') return entry
      id = entry.id
      return { ...entry, fields: { ...entry.fields, ...fields }, base: { ...base, ...entry.base } }
    })
  }
  return id
}

/** Sends everything that waits: called when the connection is back. */
export async function drainAll() {
  await reload()
  for (const lane of new Set(model.outbox.filter((entry) => entry.state === 'waiting').map((entry) => entry.lane))) drain(lane)
}

function drain(lane, account = model.account?.account) {
  if (!account || account !== model.account?.account) return
  navigator.locks.request(`quartet-outbox-${account}-${lane}`, async () => {
    for (const { id } of (await all('outbox')).filter((entry) => entry.account === account && entry.lane === lane)) {
      const entry = await get('outbox', id)
      if (entry?.state === 'waiting' && !(await attempt(entry))) return
    }
  })
}

/** Sends one entry; false if those behind it have to wait. */
async function attempt(entry) {
  if (entry.expires < now()) return conclude(entry, expired(entry))
  let body
  await update('outbox', entry.id, (stored) => {
    body = rebased(stored, stored.account === model.account?.account ? model.replica : undefined)
    // From here on it keeps its body: the server may have it.
    return body instanceof Problem ? stored : { ...stored, body, isSent: true, isStuck: false }
  })
  await reload()
  // Dropped in the meantime.
  if (body === undefined) return true
  if (body instanceof Problem) return conclude(entry, body)
  try {
    const { body: reply } = await ask('POST', entry.path, { body, key: entry.key, account: entry.account })
    return conclude(entry, undefined, reply)
  } catch (error) {
    if (error instanceof Problem && error.isTransient) {
      await new Promise((resolve) => setTimeout(resolve, 1000 * (error.retryAfter ?? 1)))
      return attempt(entry)
    }
    if (!(error instanceof Problem)) return wait(entry, error)
    if (error.code === 'staleVersion' && entry.base) return again(entry, error)
    return conclude(entry, error)
  }
}

/** Somebody else changed the same thing in the meantime: merges with what it is now, under a new key. */
async function again(entry, problem) {
  try {
    const { body: current } = await ask('GET', placeOf(entry), { account: entry.account })
    const next = { ...entry, key: newKey(), body: undefined, current: current.contact ?? current }
    await put('outbox', next)
    return attempt(next)
  } catch (error) {
    return error instanceof Problem ? conclude(entry, problem) : wait(entry, error)
  }
}

/** For how long an entry rests that couldn't be sent, unless the connection comes back earlier. */
const rest = 5000

/** It stays until the server can be reached. */
async function wait(entry, error) {
  await update('outbox', entry.id, (stored) => ({ ...stored, isStuck: true }))
  await reload()
  announce({ id: entry.id, error: { isUnreachable: true, message: error.message } })
  setTimeout(() => drain(entry.lane), rest)
  return false
}

async function conclude(entry, problem, reply) {
  if (problem) {
    await update('outbox', entry.id, (stored) => ({ ...stored, state: 'refused', problem: plain(problem) }))
  } else if (reply?.event) {
    await update('outbox', entry.id, (stored) => ({ ...stored, state: 'done', command: reply.command }))
  } else {
    await remove('outbox', entry.id)
  }
  await reload()
  // A refused edit stays, so that it can be corrected; so does what nobody waits for any more. The rest is reported and over.
  if (problem && !entry.base && !entry.isStuck) await drop(entry.id)
  announce({ id: entry.id, error: problem && plain(problem), reply })
  return true
}

/** Ends the entries whose events have arrived: what they changed is part of the state now. */
export function close() {
  const { seen = [] } = model.replica ?? {}
  const closed = model.outbox.filter((entry) => entry.state === 'done' && seen.includes(entry.command))
  if (!closed.length) return
  model.outbox = model.outbox.filter((entry) => !closed.includes(entry))
  for (const { id } of closed) remove('outbox', id)
}

/** Ends all that are done: a new snapshot has what they changed. */
export function closeAll() {
  for (const { id, state } of model.outbox) if (state === 'done') remove('outbox', id)
  model.outbox = model.outbox.filter((entry) => entry.state !== 'done')
}

export async function drop(id) {
  await remove('outbox', id)
  await reload()
}

const expired = () => new Problem(504, { code: 'expired', detail: 'It couldn’t be sent in time, so it wasn’t done.' })
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
