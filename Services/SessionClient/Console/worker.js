/**
 * Opens the console without a network, with the files of the version that was there last. It keeps these alone: nothing of a person, and
 * no answer of the API. What a page shows then is in net/kept.js.
 *
 * The server puts three constants before this: `version`, `files` (the hash of each, by its path; `/` is the page) and `pages` (the first
 * parts of the console's paths).
 */

const name = `console-${version}`
/** For how many milliseconds a page is waited for, before the kept one is shown. */
const patience = 4000

addEventListener('install', (event) => event.waitUntil(keep().then(() => skipWaiting())))

/** Keeps all files, or none: while a new version is rolled out, they may come from two, and then don't have their hashes. */
async function keep() {
  const cache = await caches.open(name)
  await Promise.all(Object.entries(files).map(async ([path, hash]) => {
    if (!await kept(path)) await cache.put(path, await fetch(path, { cache: 'reload', credentials: 'omit', integrity: `sha256-${hash}` }))
  }))
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

const keptOr = async (request, path) => await kept(path) ?? fetch(request)

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
