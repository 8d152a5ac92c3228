/** One request to the API: its answer, or the reason why there is none. */
import { named, t, translated } from '../core/language.js'
import { observe } from '../core/time.js'

/** Quartet refused (RFC 9457). `code` says why; `detail` is for people. */
export class Problem extends Error {
  constructor(status, document) {
    super(document.detail ?? document.title ?? t`The server answered ${status}.`)
    Object.assign(this, { status, code: document.code, field: document.field, reason: document.reason, retry: document.retry })
    Object.assign(this, { retryAfter: document.retryAfter, current: document.current })
  }
}

/** There is no answer of Quartet's: the server can't be reached, or something on the way answered. Whether the request arrived isn't known. */
export class Unreachable extends Error {
  constructor(status) {
    super(status ? t`Something on the way to Quartet answered (${status}). Nothing is known about the request yet.` : t`The server can’t be reached.`)
    this.status = status
  }
}

/** What a refusal says in a language that the server doesn't speak: that very sentence, what its code means, or at least of what kind it is. */
const words = ({ code, detail }, status) => translated(detail ?? '') ?? named(`error.${code}`)
  ?? named(`errors.${status === 429 ? 'tooMany' : status >= 500 ? 'server' : [409, 422].includes(status) ? 'refused' : 'program'}`)

const patience = 20_000

/**
 * @param {object} [options] `body` (JSON) or `bytes` with their `type`; `key` (Idempotency-Key); `token`; `headers`
 * @returns {Promise<{status: number, body: any, headers: Headers}>}
 */
export async function send(method, path, { body, bytes, type, key, token, headers = {} } = {}) {
  headers = { ...headers }
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  if (bytes) headers['Content-Type'] = type
  if (key) headers['Idempotency-Key'] = key
  if (token) headers.Authorization = `Bearer ${token}`
  let response, text
  try {
    response = await fetch(path, {
      method, headers, body: bytes ?? (body === undefined ? undefined : JSON.stringify(body)), credentials: 'omit',
      cache: 'no-store', signal: AbortSignal.timeout(patience),
    })
    text = await response.text()
  } catch {
    throw new Unreachable()
  }
  observe(response.headers.get('Date'))
  const answer = parse(text)
  if (isProblem(answer)) throw new Problem(response.status, { ...answer, detail: words(answer, response.status) ?? answer.detail })
  // A proxy's page, a portal's, or half an answer decides nothing.
  if (!response.ok || (text && answer === undefined)) throw new Unreachable(response.status)
  return { status: response.status, body: answer, headers: response.headers }
}

/** A picture's bytes as a blob, or undefined where there is none. */
export async function fetchPicture(path, token) {
  try {
    const response = await fetch(path, { headers: { Authorization: `Bearer ${token}` }, credentials: 'omit' })
    return { status: response.status, blob: response.ok ? await response.blob() : undefined }
  } catch {
    return {}
  }
}

/** Whether an answer is a problem document of Quartet's. */
const isProblem = (answer) => typeof answer?.code === 'string' && answer.type === `/docs/errors/${answer.code}`

function parse(text) {
  try {
    return text ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}
