/**
 * Opens the console without a network, with the files of the version that was there last. It keeps these alone: nothing of a person, and
 * no answer of the API. What a page shows then is in net/kept.js. And it shows what is pushed to this browser (net/subscription.js), in
 * the language that the pages speak (core/language.js).
 *
 * The server puts three constants before this: `version`, `files` (the hash of each, by its path; `/` is the page) and `pages` (the first
 * parts of the console's paths).
 */

const name = `console-${version}`
/** For how many milliseconds a page is waited for, before the kept one is shown. */
const patience = 4000

addEventListener('install', (event) => event.waitUntil(keep().then(() => skipWaiting())))

/** The texts of a language. */
const textsOf = (language) => `/console/${version}/languages/${language}.json`
const isOfLanguage = (path) => path.startsWith(textsOf('').slice(0, -'.json'.length))

/**
 * Keeps all files, or none: while a new version is rolled out, they may come from two, and then don't have their hashes. Of languages, it
 * keeps the one that pages speak.
 */
async function keep() {
  const own = textsOf(await spoken())
  await Promise.all(Object.keys(files).filter((path) => path === own || !isOfLanguage(path)).map(async (path) => {
    if (!await kept(path)) await keepOne(path)
  }))
}

async function keepOne(path) {
  const cache = await caches.open(name)
  await cache.put(path, await fetch(path, { cache: 'reload', credentials: 'omit', integrity: `sha256-${files[path]}` }))
}

/** A file as it was kept. Scripts of pages can write there, too: what isn't the server's isn't shown. */
async function kept(path) {
  const response = await caches.match(path, { cacheName: name })
  if (!response) return undefined
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await response.clone().arrayBuffer()))
  return btoa(String.fromCharCode(...digest)) === files[path] ? response : undefined
}

addEventListener('activate', (event) => event.waitUntil(takeOver()))

async function takeOver() {
  for (const other of await caches.keys()) if (other.startsWith('console-') && other !== name) await caches.delete(other)
  await clients.claim()
}

addEventListener('fetch', (event) => {
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  if (request.method !== 'GET' || origin !== location.origin) return
  if (pathname !== '/' && Object.hasOwn(files, pathname)) event.respondWith(keptOr(request, pathname))
  else if (request.mode === 'navigate' && pages.includes(pathname.split('/')[1])) event.respondWith(page(request))
})

async function keptOr(request, path) {
  const response = await kept(path)
  if (response || !isOfLanguage(path)) return response ?? fetch(request)
  // A language that is spoken from now on. If it can't be kept, there may still be an answer.
  await keepOne(path).catch(() => {})
  return await kept(path) ?? fetch(request)
}

/** The page from the server; what was kept, if that doesn't answer soon or has trouble of its own. */
async function page(request) {
  const asked = fetch(request)
  // It may fail when nobody waits for it any more.
  asked.catch(() => {})
  let timer
  const late = new Promise((resolve) => { timer = setTimeout(resolve, patience) })
  try {
    const response = await Promise.race([asked, late])
    if (response && response.status < 500) return response
  } catch {
    // The kept one, if there is one.
  } finally {
    clearTimeout(timer)
  }
  return await kept('/') ?? asked
}

/**
 * What this says, and what the server's pushes say, in the language that pages speak. Nothing is waited for: where that isn't kept, it
 * is said in English.
 */
async function translator() {
  const texts = await kept(textsOf(await spoken())).then((response) => response?.json()).catch(() => undefined)
  return (text) => (Object.hasOwn(texts ?? {}, text) ? texts[text] : text)
}

/** The language that pages spoke last (parts/pushes.js); before any did, the browser's. */
const spoken = async () => await inStore('keys', 'readonly', (store) => store.get('language')) ?? navigator.language.split('-')[0]

/** One after the other: what is shown already decides what is shown next. */
let showing = Promise.resolve()
addEventListener('push', (event) => {
  showing = showing.catch(() => {}).then(() => show(event.data))
  event.waitUntil(showing)
})

/**
 * Shows what was pushed: always something, and nothing of an account that isn't signed in here any more. If nobody can say whether it
 * is, an alarm must not go unseen for that: the texts name nobody.
 */
async function show(data) {
  const say = await translator()
  let message = read(data)
  const { account } = message ?? {}
  if (!message || await isSignedIn(account) === false) {
    return registration.showNotification('Quartet', { body: say('There is something new. Open Quartet to see it.'), tag: 'quartet', icon: icon(), data: { path: '/' } })
  }
  const isAlarm = Boolean(message.alarm)
  const tag = `${account}/${message.tag ?? message.alarm ?? message.notification}`
  const [shown] = await registration.getNotifications({ tag })
  // A beginning that took longer than the end that overtook it, or the same once more.
  const isOld = shown && (shown.data?.created > message.created || shown.data?.push === message.push)
  if (isOld) message = { ...message, title: shown.title, body: shown.body, priority: shown.requireInteraction ? 'critical' : 'normal' }
  return registration.showNotification(say(message.title), {
    body: say(message.body), icon: icon(message.priority === 'critical' ? 'icon-alert.svg' : 'icon.svg'), timestamp: message.created / 1000,
    tag, renotify: isAlarm && !isOld, requireInteraction: message.priority === 'critical', silent: message.priority === 'low' || Boolean(isOld),
    data: { account, path: pathOf(message), created: isOld ? shown.data.created : message.created, push: isOld ? shown.data.push : message.push },
  })
}

function read(data) {
  try {
    const message = data?.json()
    return message?.title && message.notification ? message : undefined
  } catch {
    return undefined
  }
}

const icon = (name = 'icon.svg') => `/console/${version}/${name}`

/** Where the console says more. */
function pathOf({ account, subject, kind, category, group, tag }) {
  if (tag?.startsWith('drill/')) return '/'
  if (category === 'system' && kind !== 'system') return '/me#devices'
  if (kind === 'system' && subject && subject !== account) return `/contacts/${subject}`
  if (category === 'group') return group ? `/together/${group}` : '/together'
  if (category === 'alerts') return subject && subject !== account ? `/contacts/${subject}` : '/'
  return '/notifications'
}

addEventListener('notificationclick', (event) => {
  event.notification.close()
  event.waitUntil(open(event.notification.data ?? {}))
})

/** Shows a page in a tab that is there, or in another one. */
async function open({ account, path = '/' }) {
  const isHere = Boolean(account) && Boolean(await isSignedIn(account))
  const [page] = await consoles()
  if (page) {
    page.postMessage({ show: isHere ? path : '/', account: isHere ? account : undefined })
    return page.focus()
  }
  // A new tab shows the account that was used last.
  if (isHere) await changeAccount(account, (record) => ({ ...record, used: Date.now() }))
  return clients.openWindow(isHere ? path : '/')
}

const consoles = async () => (await clients.matchAll({ type: 'window', includeUncontrolled: true }))
  .filter(({ url }) => pages.includes(new URL(url).pathname.split('/')[1]))

addEventListener('pushsubscriptionchange', (event) => event.waitUntil(subscribeAgain(event)))

/** The browser gave the subscription up. Only a page can sign in to register another one, so if none is open, it says that one is needed. */
async function subscribeAgain({ oldSubscription, newSubscription }) {
  const key = oldSubscription?.options?.applicationServerKey
  if (!newSubscription && key) await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key }).catch(() => {})
  const open = await consoles()
  for (const page of open) page.postMessage({ isSubscribedAgain: true })
  if (open.length || (await accounts())?.some(({ signedOut, pushes }) => !signedOut && pushes) === false) return
  const say = await translator()
  await registration.showNotification(say('Open Quartet'), {
    body: say('Until you do, no alarm reaches you in this browser while Quartet is closed.'), tag: 'quartet-again', icon: icon(),
    requireInteraction: true, data: { path: '/' },
  })
}

/** Undefined: it can't be found out. */
const isSignedIn = async (account) => (await accounts())?.some((one) => one.account === account && !one.signedOut)

/** What net/database.js keeps of accounts; undefined if it can't be read. */
const accounts = () => inStore('accounts', 'readonly', (store) => store.getAll(), [])

const changeAccount = (account, change) => inStore('accounts', 'readwrite', (store) => {
  const request = store.get(account)
  request.onsuccess = () => { if (request.result) store.put(change(request.result)) }
  return request
})

/** @param [none] what there is where there is no database */
async function inStore(name, mode, body, none) {
  let database
  let isMissing = false
  try {
    database = await new Promise((resolve, reject) => {
      const request = indexedDB.open('quartet')
      // Where there is none, none is made.
      request.onupgradeneeded = () => { isMissing = true; request.transaction.abort() }
      request.onsuccess = () => resolve(request.result)
      request.onerror = () => reject(request.error)
    })
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(name, mode)
      const request = body(transaction.objectStore(name))
      transaction.oncomplete = () => resolve(request.result)
      transaction.onerror = transaction.onabort = () => reject(transaction.error)
    })
  } catch {
    return isMissing ? none : undefined
  } finally {
    // Kept open, it would hold up a later version of the page.
    database?.close()
  }
}
