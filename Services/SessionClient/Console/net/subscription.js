/**
 * This browser's subscription to pushes. It has one for all its accounts: each registers it with the server under a token of its own.
 * The service worker (worker.js) shows what is pushed.
 */
import { all, get, update } from './database.js'

/** Whether this browser can be pushed to. */
export const canSubscribe = () => Boolean(navigator.serviceWorker && globalThis.PushManager && globalThis.Notification)

const manager = async () => (await navigator.serviceWorker.ready).pushManager

const bytesOf = (base64url) => Uint8Array.from(atob(base64url.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0))
const isSame = (buffer, bytes) => buffer && buffer.byteLength === bytes.length && new Uint8Array(buffer).every((byte, place) => byte === bytes[place])

/**
 * The subscription with the server's present key, made if need be; the person has allowed it.
 * @param {boolean} isAnother whether the one that there is won't do: the push service has forgotten it
 */
export async function subscribe(key, isAnother = false) {
  const pushes = await manager()
  const applicationServerKey = bytesOf(key)
  const known = await pushes.getSubscription()
  if (known && !isAnother && isSame(known.options.applicationServerKey, applicationServerKey)) return known
  await known?.unsubscribe()
  return pushes.subscribe({ userVisibleOnly: true, applicationServerKey })
}

/** The token of an account. The server passes over the account in it: it sets the accounts of one browser apart. */
export const tokenOf = (subscription, account) => {
  const { endpoint, keys } = subscription.toJSON()
  return JSON.stringify({ endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth }, account })
}

/** What an account wants and has registered: `{token, device}`; undefined if it wants no notifications here. */
export const wishOf = async (account) => (await get('accounts', account))?.pushes

/** @param {object} [wish] undefined: none are wanted any more */
export const setWish = (account, wish) => update('accounts', account, (record) => ({ ...record, pushes: wish }))

/** Ends what was for accounts that aren't signed in any more, or don't want it: shown notifications, and the subscription with the last. */
export async function endUnused() {
  if (!canSubscribe()) return
  const wanting = (await all('accounts')).filter(({ signedOut, pushes }) => !signedOut && pushes).map(({ account }) => account)
  // Where there was never a worker, waiting for one would take for ever.
  const registration = await navigator.serviceWorker.getRegistration()
  if (!registration) return
  for (const one of await registration.getNotifications()) if (!wanting.includes(one.data?.account)) one.close()
  if (!wanting.length) await (await registration.pushManager.getSubscription())?.unsubscribe()
}
