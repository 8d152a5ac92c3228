/** Requests of the account that this tab shows. */
import { changed, model } from '../core/model.js'
import { now } from '../core/time.js'
import { accessToken, deviceOf, endsSession, markSignedOut, NeedsSignIn } from './accounts.js'
import { send, Problem, fetchPicture } from './http.js'

/** It wasn't sent, because it is too late for it. */
export class TooLate extends Error {}

/**
 * Sends a request with a token, and once more with a new one if the server doesn't accept it.
 * @param {object} [options] those of `send`; `account`; `isUrgent`; `expires`: after that it isn't sent, however long the token took
 */
export async function ask(method, path, { account = model.account?.account, expires = Infinity, ...options } = {}) {
  const sendWith = (token) => {
    if (expires < now()) throw new TooLate()
    return send(method, path, { ...options, token })
  }
  let refused
  for (let repetition = 0; ; repetition += 1) {
    const device = await deviceOf(account)
    const token = await accessToken(account, refused, options.isUrgent)
    try {
      return await sendWith(token)
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 401) throw error
      const isOver = endsSession(error)
      if (isOver && await markSignedOut(account, device, error.message)) throw new NeedsSignIn(error.message)
      // Again with another token, or as the device as which its person has signed in since.
      if (!isOver && (error.code !== 'invalidToken' || repetition > 0)) throw error
      refused = token
    }
  }
}

export const read = async (path) => (await ask('GET', path)).body

/** Pictures by their hash, as addresses of blobs; null while one is loading, and for a while after it couldn't be loaded. */
const pictures = new Map()
/** How many are kept. The one that came first gives way, and is loaded again should it be needed. */
const picturesKept = 500
const pictureRetry = 30_000

/** Changes with each picture that is there. */
export const picturesLoaded = () => loaded
let loaded = 0

/** The address of an account's picture, once it is loaded; `whenLoaded` is called then. */
export function picture(account, avatar, whenLoaded) {
  if (!avatar) return undefined
  const known = pictures.get(avatar.hash)
  if (known === undefined) {
    pictures.set(avatar.hash, null)
    load(account, avatar.hash).then(whenLoaded)
  }
  return known ?? undefined
}

/** One that can't be loaded is left alone for a while, so that no drawing asks for it again at once. */
async function load(account, hash) {
  const own = model.account.account
  const path = account === own ? '/v1/account/avatar' : `/v1/contacts/${account}/avatar`
  const blob = await loadPicture(path, own).catch(() => undefined)
  if (blob) keep(hash, URL.createObjectURL(blob))
  else setTimeout(() => { pictures.delete(hash); changed() }, pictureRetry)
  loaded += 1
}

function keep(hash, address) {
  pictures.set(hash, address)
  if (pictures.size <= picturesKept) return
  const [oldest, old] = pictures.entries().next().value
  pictures.delete(oldest)
  if (old) URL.revokeObjectURL(old)
}

async function loadPicture(path, own) {
  const token = await accessToken(own)
  const { status, blob } = await fetchPicture(path, token)
  return status === 401 ? (await fetchPicture(path, await accessToken(own, token))).blob : blob
}
