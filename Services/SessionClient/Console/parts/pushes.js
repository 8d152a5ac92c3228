/** Notifications of this browser while no page is open: the switch, and what keeps the server up to date. */
import { h } from '../core/view.js'
import { t, wantedLanguage } from '../core/language.js'
import { model, changed } from '../core/model.js'
import { newKey } from '../core/time.js'
import { attempt } from '../core/actions.js'
import { go } from '../core/router.js'
import { choose, deviceOf } from '../net/accounts.js'
import { ask } from '../net/api.js'
import { send, Unreachable } from '../net/http.js'
import { all, put } from '../net/database.js'
import { exclusively } from '../net/locks.js'
import { canSubscribe, endUnused, setWish, subscribe, tokenOf, wishOf } from '../net/subscription.js'
import { refusal, toggle } from './pieces.js'

/** What the server's pushes are signed with; undefined while it isn't known, null if it sends none to browsers. */
let key
/** The key, asked for by the first who needs it; again, if there was no answer, or where it may be another one since. */
async function theKey(isFresh = false) {
  if (key !== undefined && !isFresh) return key
  asking ??= send('GET', '/v1/push/key').finally(() => { asking = undefined })
  return (key = (await asking).body?.publicKey ?? null)
}

let asking
let isAsked = false
/** When it is asked for again, in milliseconds. */
const retry = 10_000

/** Whether the switch was moved and isn't there yet. */
let isBusy = false
/** Accounts that want notifications here. */
let wanting = new Set()

const register = async (account, token) => {
  const device = await deviceOf(account)
  await ask('POST', '/v1/commands/RegisterPush', { account, body: { token, platform: 'web' }, key: newKey() })
  await setWish(account, { token, device })
}

/** One tab at a time: each subscription ends the one before. */
const alone = (work) => exclusively('quartet-pushes', work)

let waiting
let pause = retry
const longestPause = 600_000
/** Called when the page is connected, and every ten minutes: the push service may have forgotten the browser. Sooner after a failure. */
export async function followPushes() {
  clearTimeout(waiting)
  try {
    await alone(registerAgain)
    pause = longestPause
  } catch (error) {
    console.warn(error)
    pause = Math.min(2 * (pause === longestPause ? retry : pause), longestPause)
  }
  followLater(pause)
}

function followLater(milliseconds) {
  clearTimeout(waiting)
  if (wanting.size) waiting = setTimeout(() => { if (model.connection.name === 'connected') followPushes() }, milliseconds)
}

/** Registers again what has changed since, such as the subscription, the device or the server's key. */
async function registerAgain() {
  if (!canSubscribe()) return
  const records = (await all('accounts')).filter(({ signedOut, pushes }) => !signedOut && pushes)
  wanting = new Set(records.map(({ account }) => account))
  changed()
  if (!records.length || Notification.permission !== 'granted') return
  if (!await theKey(true)) return
  const present = await subscribe(key)
  const isLost = ({ account, device, pushes }) =>
    account === model.account?.account && model.replica?.notifications && !isRegistered() && pushes.device === device && pushes.token === tokenOf(present, account)
  const subscription = records.some(isLost) ? await subscribe(key, true) : present
  const failures = []
  for (const { account, device, pushes } of records) {
    const token = tokenOf(subscription, account)
    // What one account is refused says nothing of the others.
    if (token !== pushes.token || device !== pushes.device) await register(account, token).catch((error) => failures.push(error))
  }
  if (failures.length) throw failures[0]
}

/** Whether the server pushes to this browser, as far as it has said. */
const isRegistered = () => Boolean(model.replica?.notifications?.pushDevices?.includes(model.account?.device))

/** The switch; nothing where the server sends no pushes to browsers, or the browser gets none. */
export function pushSwitch() {
  if (!canSubscribe()) return undefined
  // Asked for when the switch would first be seen: pages that are opened wait for nothing of this.
  if (key === undefined && !isAsked) {
    isAsked = true
    theKey().then(changed, () => { setTimeout(() => { isAsked = false; changed() }, retry) })
  }
  if (!key) return undefined
  const isDenied = Notification.permission === 'denied'
  const isWanted = wanting.has(model.account?.account)
  const isOn = isWanted && isRegistered() && Notification.permission === 'granted'
  return h('section', { class: 'card', 'aria-labelledby': 'pushes-title' },
    h('h2', { id: 'pushes-title' }, t`Notifications`),
    toggle(t`Notify me in this browser`, isOn, (isNowOn) => (isNowOn ? turnOn() : turnOff()), { hint: hint(isDenied, isOn, isWanted), disabled: isBusy || (isDenied && !isOn) }),
    refusal('pushes'))
}

function hint(isDenied, isOn, isWanted) {
  if (isBusy) return t`One moment…`
  if (isDenied) return t`Your browser blocks notifications of this page. Allow them in its settings.`
  if (isOn) return t`Alarms and other news are shown even if no page of Quartet is open, as long as the browser runs`
  return isWanted ? t`This browser isn’t registered at the moment, so nothing reaches you here while no page is open` : t`Alarms and other news are shown even if no page of Quartet is open`
}

/** Has the worker keep and speak the language that is wanted here, even if this page couldn't load it. */
export const tellLanguage = () => put('keys', wantedLanguage(), 'language').catch((error) => console.warn(error))

/** The page that a notification led to, or that is told of a new subscription. */
export function followWorker() {
  navigator.serviceWorker?.addEventListener('message', async ({ data }) => {
    if (data?.isSubscribedAgain) followPushes()
    if (!data?.show) return
    if (data.account && data.account !== model.account?.account && model.accounts.some(({ account, signedOut }) => account === data.account && !signedOut)) await choose(data.account)
    go(data.show)
  })
}

async function busily(work) {
  isBusy = true
  changed()
  try {
    return await attempt(work, undefined, { at: 'pushes', isKept: false })
  } finally {
    isBusy = false
    changed()
  }
}

/** From a click alone: browsers ask nobody otherwise. */
async function turnOn() {
  const { account } = model.account
  const asked = Notification.requestPermission()
  await busily(async () => {
    if (await asked !== 'granted') throw new Error(t`The browser doesn’t allow notifications, so nothing was changed.`)
    if (!await theKey(true)) throw new Error(t`The server sends no notifications to browsers any more.`)
    try {
      await alone(() => subscribeHere(account))
    } finally {
      followLater(retry)
    }
  })
}

async function subscribeHere(account) {
  const subscription = await subscribe(key).catch((error) => {
    throw new Error(t`The browser can’t be reached by pushes: ${error.message}`)
  })
  // Before the server hears of it: nothing may be pushed here that this browser knows nothing of.
  if (!await wishOf(account)) await setWish(account, {})
  wanting.add(account)
  try {
    await register(account, tokenOf(subscription, account))
  } catch (error) {
    if (error instanceof Unreachable) throw new Error(t`The server can’t be reached. This browser is registered once it can be.`)
    await setWish(account, undefined)
    wanting.delete(account)
    throw error
  }
}

async function turnOff() {
  const { account } = model.account
  await busily(() => alone(async () => {
    await ask('POST', '/v1/commands/UnregisterPush', { account, body: {}, key: newKey() })
    if (await wishOf(account)) await setWish(account, undefined)
    wanting.delete(account)
    await endUnused()
  }))
}
