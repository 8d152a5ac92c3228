/** Lets the page open without a network: a service worker (worker.js) keeps its files. */

const address = '/console-worker.js'
let isAsked = false

/** Called once the page is connected, so that nothing waits for it. */
export function keepFiles() {
  if (isAsked || !navigator.serviceWorker) return
  isAsked = true
  // A browser that keeps nothing, as in a private window, opens the page with a network alone; so does a page of an earlier release,
  // whose own policy forbids this one.
  register().catch((error) => console.info('The page won’t open without a network:', error.message))
}

async function register() {
  // The page's policy lets no text become a script's address but by this one, and this one knows a single address.
  const policy = globalThis.trustedTypes?.createPolicy('worker', { createScriptURL: () => address })
  await navigator.serviceWorker.register(policy?.createScriptURL(address) ?? address, { updateViaCache: 'none' })
}
