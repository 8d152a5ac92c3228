/**
 * What an answer means for a request that is kept until it is decided: which refusals end it, and which don't. The lists are those
 * of `APIError+Code.swift`; a test compares them.
 */

/** The same request, under the same Idempotency-Key, may be answered otherwise later. */
const sameKey = new Set(['noOutcomeYet', 'incompleteBody', 'tooSlow', 'notDue', 'digestMismatch', 'tooManyLookUps', 'tooManySignUps',
  'tooManyCodes', 'tooManyStreams', 'tooManyUploads', 'tooManyCommands', 'tooManyRequests', 'tooManyReads', 'tooManyOperations',
  'tooManyConnections', 'tooManyDownloads', 'internal', 'overloaded', 'databaseUnavailable', 'codeNotSent', 'serverStopping', 'queryTooSlow'])
/** It never happened, and never will under this key. */
const newKey = new Set(['idTooOld', 'codeTaken', 'accountNotFound', 'hostChanged', 'edgeNotFound', 'tooManySignals',
  'failed', 'expired'])
const refreshed = new Set(['missingToken', 'invalidToken'])
/** Those of `newKey` after which a kept request is sent again by itself. The others are for its person to decide. */
const sentAgain = new Set(['idTooOld', 'accountNotFound', 'hostChanged', 'failed', 'expired'])
/**
 * How often a request is sent again under a new key that failed at the server each time, or had a code that this page doesn't know.
 * What is urgent is bounded by its time: what a newer server says may pass.
 */
const failuresAllowed = 5
export const isCounted = (code, isUrgent) => code === 'failed' || (!isUrgent && !newKey.has(code))

/** Whether and how a program may send a request again: `no`, `sameKey`, `newKey` or `refreshed`. */
export const retryOf = (code) =>
  sameKey.has(code) ? 'sameKey' : newKey.has(code) ? 'newKey' : refreshed.has(code) ? 'refreshed' : 'no'

/** Rules that refuse with the status of an overload. */
const rules = new Set(['tooSoon', 'tooManyAttempts'])

/** Client errors that may pass, of codes that this page doesn't know. */
const passing = [401, 408, 425, 426, 429]

/**
 * What comes next for a kept request: `decided`; `later`, as it is; or `again`, under a new key.
 * @param {object} problem one of Quartet's own: `{status, code, retry}`, where `retry` is what the server says of its code
 * @param {number} failures how often it failed at the server before
 */
export function verdict({ status, code, retry }, failures = 0) {
  if (newKey.has(code)) return sentAgain.has(code) && (code !== 'failed' || failures < failuresAllowed) ? 'again' : 'decided'
  if (rules.has(code)) return 'decided'
  if (retryOf(code) !== 'no') return 'later'
  if (retry === 'newKey') return failures < failuresAllowed ? 'again' : 'decided'
  if (retry) return retry === 'no' ? 'decided' : 'later'
  return status >= 400 && status < 500 && !passing.includes(status) ? 'decided' : 'later'
}

/** Fields that came after 0.1.0, whose servers refuse a body that has one. A test compares the list with the contracts'. */
export const laterFields = {
  RaiseAlert: ['pressed'], ClearAlert: ['alarm', 'pressed'], RespondToPing: ['pressed', 'sent'], RespondToAllPings: ['upTo'],
  ClearAllReceivedPings: ['upTo'], MarkAllRead: ['upTo'],
  SetCheckInInterval: ['expectedVersion'],
}

/** The fields of a request that was refused for one that an earlier server doesn't know, without all such; undefined for another refusal. */
export function olderFields({ path, fields }, { code, field }) {
  const later = laterFields[path.split('/').at(-1)] ?? []
  if (code !== 'malformed' || !later.includes(field) || !(field in fields)) return undefined
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !later.includes(name)))
}

/** How long something urgent rests at most, in milliseconds; longer once a code that this page doesn't know has refused it for a while. */
const urgentRest = 5000
export const urgentRestOf = (code, tries) => (tries > failuresAllowed && code && !newKey.has(code) ? 60_000 : urgentRest)

/** The pause before the next try, in milliseconds: anything up to a limit that doubles, so that not all come at once. */
export function rest(tries, isUrgent, retryAfter = 0, random = Math.random, limit = urgentRest) {
  if (isUrgent) return Math.max(500, random() * Math.min(limit, Math.max(1000 * retryAfter, 500 * 2 ** tries)))
  return 1000 * retryAfter + Math.max(200, random() * Math.min(30_000, 1000 * 2 ** tries))
}
