/** Starts the console. */
import { render } from './core/view.js'
import { language, speak, t, wantedLanguage } from './core/language.js'
import { model, changed, drawWith } from './core/model.js'
import { addRoute, followLinks, go, readAddress } from './core/router.js'
import { followPlayer } from './core/player.js'
import { loadAccounts, observeAccounts } from './net/accounts.js'
import { askedForStream, follow, observeConnecting, yieldWhenLeft } from './net/live.js'
import { shell, title } from './parts/shell.js'
import { empty } from './parts/pieces.js'
import { observeBlocking } from './net/database.js'
import { followPushes, followWorker, tellLanguage } from './parts/pushes.js'
import { showReceipts } from './parts/receipts.js'
import { welcome } from './pages/welcome.js'
import { home } from './pages/home.js'
import { contacts } from './pages/contacts.js'
import { contact } from './pages/contact.js'
import { notifications } from './pages/notifications.js'
import { listen, search } from './pages/listen.js'
import { together } from './pages/together.js'
import { group } from './pages/group.js'
import { me } from './pages/me.js'
import { notConfigured } from './pages/not-configured.js'

addRoute('/welcome', welcome)
addRoute('/', home)
addRoute('/contacts', contacts)
addRoute('/contacts/{account}', contact)
addRoute('/notifications', notifications)
addRoute('/together', together)
addRoute('/together/{group}', group)
addRoute('/listen', listen)
addRoute('/search', search)
addRoute('/me', me)

function draw() {
  sendToWelcome()
  render(document.body, shell())
  document.title = title()
  document.body.classList.toggle('kept', model.isKept)
  showIcon(document.title.startsWith('(!)'))
  showReceipts()
}

/** The icon of the tab, which is another one during an alarm. */
function showIcon(isAlarm) {
  const link = document.querySelector('link[rel=icon]')
  const address = link.href.replace(/[^/]*$/, isAlarm ? 'icon-alert.svg' : 'icon.svg')
  if (address !== link.href) link.href = address
}

/** A tab without an account, or whose account has no name yet, has one page. */
function sendToWelcome() {
  const isReady = model.account && !model.account.signedOut && (model.isKept || model.replica?.account?.onboarding !== 'needsProfile')
  if (!isReady && model.route.path !== '/welcome') go('/welcome', { replacing: true })
}

/** Speaks the language that is wanted. If it can't be loaded, it is asked for again in a minute, and when the page connects. */
function speakWanted() {
  speaking ??= speak().then(changed, (error) => {
    console.warn(error)
    setTimeout(() => { if (language() !== wantedLanguage()) speakWanted() }, 60_000)
  }).finally(() => { speaking = undefined })
  return speaking
}

let speaking

async function start() {
  observeBlocking((isBlocked) => {
    if (isBlocked) render(document.body, empty(t`Close the other tabs of Quartet`, t`They show an earlier version, and this one waits for them.`))
  })
  // Drawing waits a second for the language, and nothing else does: somebody may need help. A language that comes later is spoken from then on.
  const words = Promise.race([speakWanted(), new Promise((done) => { setTimeout(done, 1000) })])
  tellLanguage()
  await loadAccounts()
  observeConnecting(() => {
    followPushes()
    if (language() !== wantedLanguage()) speakWanted()
  })
  followWorker()
  follow()
  // At once: what another tab changes during the wait counts, too.
  let shown = model.account
  observeAccounts(() => {
    // What was said to one person isn't for the next.
    if (shown?.account !== model.account?.account) model.toasts = []
    if (shown?.account !== model.account?.account || shown?.signedOut !== model.account?.signedOut) follow()
    shown = model.account
  })
  yieldWhenLeft()
  // Drawing would hold up what the page waits for.
  if (model.account && !model.account.signedOut) await askedForStream()
  await words
  drawWith(draw)
  followLinks()
  readAddress()
  // Times that are shown go on while the page can be seen.
  setInterval(() => {
    followPlayer()
    if (!document.hidden) changed()
  }, 1000)
  document.addEventListener('visibilitychange', changed)
}

// Tokens are sealed and shared between tabs with means that browsers have on https and localhost alone.
if (isSecureContext) start()
else speak().catch((error) => console.warn(error)).then(() => render(document.body, notConfigured()))
