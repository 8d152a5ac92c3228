/**
 * The accounts that are signed in in this browser. All tabs share them; each tab shows one. Tokens are sealed
 * (net/vault.js says against whom), are never in localStorage or an address, and leave this module only towards the server.
 */
import { t } from '../core/language.js'
import { model, changed } from '../core/model.js'
import { newKey } from '../core/time.js'
import { dropDrafts } from '../core/drafts.js'
import { undoneWords } from '../core/words.js'
import { all, get, put, remove, update } from './database.js'
import { prepare, seal, unseal } from './vault.js'
import { send, Problem, Unreachable } from './http.js'
import { forgetKept, keepOnly } from './kept.js'
import { exclusively, urgentPatience } from './locks.js'
import { retryOf } from './retries.js'
import { endUnused } from './subscription.js'

/** The account has to sign in again. */
export class NeedsSignIn extends Error {
  constructor(detail) {
    super(detail)
  }
}

/** Tells other tabs that the list changed. */
const channel = new BroadcastChannel('quartet-accounts')
/** An access token isn't sent in the last half minute of its time. */
const margin = 30_000
/** Which account a tab shows: survives a reload of the tab, and new tabs take the last one used. */
const chosen = 'account'

/** Reads the list, and chooses what this tab shows. */
export async function loadAccounts() {
  const [records] = await Promise.all([all('accounts'), prepare()])
  records.sort((left, right) => right.used - left.used)
  keepOnly(records.filter(({ signedOut }) => !signedOut).map(({ account }) => account)).catch(console.warn)
  model.accounts = records.map(({ account, device, handle, signedOut, why }) => ({ account, device, handle, signedOut, why }))
  // A tab stays with its account; one that has just been opened takes the last one used.
  const here = sessionStorage.getItem(chosen) ?? model.accounts[0]?.account ?? ''
  sessionStorage.setItem(chosen, here)
  model.account = model.accounts.find((one) => one.account === here)
  changed()
}

let listener = () => {}

/** Calls `function_` when what this tab shows may be another account, or none any more. */
export function observeAccounts(function_) {
  listener = function_
  channel.onmessage = rereadAccounts
}

/** Takes over what other tabs changed. Of an account that was signed out there, nothing stays here. */
export async function rereadAccounts() {
  const before = model.account?.account
  await loadAccounts()
  if (before && !model.accounts.some(({ account }) => account === before)) dropDrafts(before)
  listener()
}

/** The list changed: here and in other tabs. */
async function announce() {
  channel.postMessage('changed')
  await rereadAccounts()
}

/** Shows another account in this tab; undefined: none, to sign in to one more. */
export async function choose(account) {
  sessionStorage.setItem(chosen, account ?? '')
  if (account) await update('accounts', account, (record) => ({ ...record, used: Date.now() }))
  await rereadAccounts()
}

/** Signs up or in; this tab then shows the account. */
export async function signIn(path, body, key) {
  const isMeant = ({ handle, account }) => (body.handle ? handle === body.handle : account === model.account?.account)
  const known = (await all('accounts')).find((record) => record.signedOut && isMeant(record))
  // Shows that this device was signed in before, so a stranger's guesses don't hold it up.
  const refreshToken = known && path === '/v1/sign-in' ? (await unseal(known.sealed)).refreshToken : undefined
  const { body: tokens } = await send('POST', path, { body: { ...body, refreshToken }, key })
  await store(tokens, { handle: body.handle })
  channel.postMessage('changed')
  await choose(tokens.account)
  return tokens
}

/** Somebody who signed in by phone has a handle as well: it is known once the state is there. */
export async function learnHandle(handle) {
  if (!model.account || model.account.handle === handle) return
  model.account.handle = handle
  await update('accounts', model.account.account, (record) => ({ ...record, handle }))
}

async function store(tokens, fields) {
  const before = await get('accounts', tokens.account)
  await put('accounts', { ...before, ...fields, used: before?.used ?? Date.now(), undoing: undefined, ...await kept(tokens) })
}

/** What is kept of an answer with tokens. */
const kept = async ({ account, device, accessToken, refreshToken, expiresIn }) => ({
  account, device, signedOut: undefined, why: undefined, exchange: undefined,
  sealed: await seal({ accessToken, refreshToken }), expires: Date.now() + expiresIn * 1000,
})

/** The exchanges that this tab waits for, by account: one for all who need a token. */
const exchanges = new Map()

/**
 * A token to send. One tab at a time exchanges the refresh token, under a key that was stored before: should the answer
 * be lost, the same request gets it again.
 * @param {string} [refused] a token that the server didn't accept
 * @param {boolean} isUrgent whether an exchange that doesn't end is waited for no longer than that
 */
export async function accessToken(account, refused, isUrgent = false) {
  const known = await usable(account, refused)
  if (known) return known
  if (!exchanges.has(account)) {
    const work = async () => (await usable(account, refused)) ?? exchange(account)
    exchanges.set(account, exclusively(`quartet-token-${account}`, work, true).finally(() => exchanges.delete(account)))
  }
  const token = await (isUrgent ? notForLong(exchanges.get(account), () => exchange(account)) : exchanges.get(account))
  return token === refused ? exchange(account) : token
}

/** What comes of `waiting`, or of `work`, begun when that takes too long. */
async function notForLong(waiting, work) {
  let timer
  const other = new Promise((resolve, reject) => { timer = setTimeout(() => work().then(resolve, reject), urgentPatience) })
  try {
    return await Promise.race([waiting, other])
  } finally {
    clearTimeout(timer)
  }
}

async function usable(account, refused) {
  const record = await get('accounts', account)
  if (!record || record.signedOut) throw new NeedsSignIn(record?.signedOut ?? t`You are signed out.`)
  if (record.expires - margin < Date.now()) return undefined
  const { accessToken } = await unseal(record.sealed)
  return accessToken === refused ? undefined : accessToken
}

/** Exchanges the refresh token. A tab may be frozen anywhere in here: what others have done meanwhile stays as it is. */
async function exchange(account) {
  const record = await compareAndSet(account, () => true, (stored) => ({ exchange: stored.exchange ?? newKey() }))
  if (!record || record.signedOut) throw new NeedsSignIn(record?.signedOut ?? t`You are signed out.`)
  const { exchange: key } = record
  const isCurrent = (stored) => stored.exchange === key
  const { refreshToken } = await unseal(record.sealed)
  try {
    const { status, body } = await send('POST', '/v1/token', { body: { refreshToken }, key })
    if (!body?.accessToken) throw new Unreachable(status)
    if (await compareAndSet(account, isCurrent, await kept(body))) return body.accessToken
  } catch (error) {
    // Another 401 is trouble that passes, such as one server with a wrong key: it signs nobody out.
    if (!(error instanceof Problem) || !endsSession(error)) throw error
    if (await compareAndSet(account, isCurrent, { signedOut: error.message })) {
      endUnused().catch(console.warn)
      await announce()
      throw new NeedsSignIn(error.message)
    }
  }
  return (await usable(account)) ?? exchange(account)
}

/** Changes an account's record in one transaction, if it still is what is expected. Resolves with what it is then, or undefined. */
async function compareAndSet(account, isExpected, fields) {
  let after
  await update('accounts', account, (stored) => {
    if (!isExpected(stored)) return stored
    return (after = { ...stored, ...(typeof fields === 'function' ? fields(stored) : fields) })
  })
  return after
}

/** Whether a refusal says that this device is signed out. */
export const endsSession = ({ code }) => ['signedOut', 'deviceSignedOut', 'tokenReused'].includes(code)

/** The device as which an account is signed in here. */
export const deviceOf = async (account) => (await get('accounts', account))?.device

/**
 * The server ended a device's session. Its last refresh token stays: it proves the device at the next sign-in.
 * @param {string} device the one that ended; nothing is marked if the account is signed in as another by now
 * @param {string} text what its person reads
 * @param {string} [why] the reason as the server's stream has it
 * @returns {Promise<boolean>} whether it was marked
 */
export async function markSignedOut(account, device, text, why) {
  const isSame = (stored) => stored.device === device
  if (!await compareAndSet(account, isSame, (stored) => ({ signedOut: text, why: why ?? stored.why }))) return false
  endUnused().catch(console.warn)
  await announce()
  return true
}

/** Takes back what was changed after this device was signed out; its last refresh token shows that it may. */
export async function undo(account) {
  // Should the answer be lost, the same request gets it again.
  const { undoing: key, sealed, device } = await compareAndSet(account, () => true, (stored) => ({ undoing: stored.undoing ?? newKey() }))
  const { refreshToken } = await unseal(sealed)
  try {
    const { status, body } = await send('POST', '/v1/undo', { body: { refreshToken }, key })
    if (!body?.changes) throw new Unreachable(status)
    await markSignedOut(account, device, undoneWords(body.changes), 'undone')
  } catch (error) {
    if (error instanceof Problem && retryOf(error.code) !== 'sameKey') await update('accounts', account, (one) => ({ ...one, undoing: undefined }))
    throw error
  }
}

/** Forgets an account and everything of it that this browser keeps. */
export async function forget(account) {
  await remove('accounts', account)
  await endUnused().catch(console.warn)
  await forgetKept(account)
  for (const store of ['outbox', 'uploads']) {
    for (const entry of await all(store)) if (entry.account === account) await remove(store, entry.id)
  }
  dropDrafts(account)
  sessionStorage.setItem(chosen, '')
  await announce()
}
