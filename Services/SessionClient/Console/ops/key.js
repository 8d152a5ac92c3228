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
  if (sealed) await useKey(await unseal(sealed).catch(() => undefined))
  else change({ isChecking: false })
}

/** Keeps a key if the server knows it. */
export async function useKey(text) {
  change({ isChecking: true, problem: undefined })
  try {
    const { body } = await send('GET', '/v1/operator', { token: text })
    await put('keys', await seal(text), place)
    change({ text, owner: body, isChecking: false })
  } catch (error) {
    if (error instanceof Problem && error.status === 401) await remove('keys', place)
    change({ text: undefined, owner: undefined, isChecking: false, problem: error.message })
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
