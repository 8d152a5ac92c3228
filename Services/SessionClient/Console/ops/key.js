/** The operator's API key: sealed in this browser until it is forgotten, and sent with each request. */
import { changed } from '../core/model.js'
import { get, put, remove } from '../net/database.js'
import { Problem, send } from '../net/http.js'
import { seal, unseal } from '../net/vault.js'

const place = 'operator'

/** `owner` is whose key it is: `{name, role}`; undefined while there is none. */
export const access = { text: undefined, owner: undefined, problem: undefined, isChecking: true }

function change(fields) {
  Object.assign(access, fields)
  changed()
}

export async function loadKey() {
  const sealed = await get('keys', place)
  const text = sealed && await unseal(sealed).catch(() => undefined)
  if (text) await useKey(text, true)
  else change({ isChecking: false })
}

/** How long to wait, in milliseconds, before the server is asked again about the key that is kept. */
const pause = 5000

/** Keeps a key if the server knows it. One that `isKept` already is still being checked until the server has said something. */
export async function useKey(text, isKept = false) {
  // Why it takes so long stays to be seen.
  change(isKept ? { isChecking: true } : { isChecking: true, problem: undefined })
  try {
    const { body } = await send('GET', '/v1/operator', { token: text })
    await put('keys', await seal(text), place)
    change({ text, owner: body, isChecking: false, problem: undefined })
  } catch (error) {
    const isRefused = error instanceof Problem && error.status === 401
    if (isRefused) await remove('keys', place)
    const isUnanswered = isKept && !isRefused
    change({ text: undefined, owner: undefined, isChecking: isUnanswered, problem: error.message })
    if (isUnanswered) setTimeout(loadKey, pause)
  }
}

export async function forgetKey(problem) {
  await remove('keys', place)
  change({ text: undefined, owner: undefined, problem })
}

/** Sends a request with the key. */
export async function ask(method, path, options = {}) {
  try {
    return (await send(method, `/v1/operator/${path}`, { ...options, token: access.text })).body
  } catch (error) {
    if (error instanceof Problem && error.status === 401) await forgetKey(error.message)
    throw error
  }
}

/** The rows of a named query. */
export const rows = (name, values = {}) => {
  const given = Object.entries(values).filter(([, value]) => value)
  return ask('GET', `queries/${name}${given.length ? `?${new URLSearchParams(given)}` : ''}`)
}
