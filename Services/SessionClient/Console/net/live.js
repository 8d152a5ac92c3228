/** Keeps the model live: follows the chosen account's stream, and sends what waits when the connection is back. */
import { model, changed } from '../core/model.js'
import { now } from '../core/time.js'
import { learnHandle, rereadAccounts } from './accounts.js'
import { hear } from './history.js'
import { completed, keep, keptOf } from './kept.js'
import { keepFiles } from './kept-files.js'
import { SharedStream } from './sharing.js'
import { close, closeAll, closeAnew, drainAll, drainUrgent, reload } from './outbox.js'
import { resumeUploads } from './uploads.js'
import { isComplete, isWhole } from '../state/replica.js'

let stream
/** The stream's own replica; `model.replica` may have what was kept in place of what that doesn't have yet. */
let live
/** What was kept, while some of it is shown: `{at, replica}`. */
let kept
/** When the stream last brought something while all of it was there, at the server's time. */
let heardAt
/** Whether all that there is has come on the present connection, and whether something came since the last copy. */
let isSettled = false
let isChanged = false
/** When the next copy may be made, of performance.now(): that of ten thousand people takes a tenth of a second. */
let keepFrom = 0
const restShare = 100
/** For how many milliseconds the stream may be on its way before what was kept is shown. */
const keptAfter = 3000

/** Follows the account that this tab shows now, or none. */
export function follow() {
  stream?.end()
  stream = undefined
  model.replica = undefined
  model.isKept = false
  live = kept = heardAt = undefined
  isSettled = isChanged = false
  model.connection = { name: 'disconnected' }
  model.lastLive = undefined
  const account = model.account
  if (account && !account.signedOut) {
    const started = stream = new SharedStream(account.account, handlers)
    setTimeout(() => { if (stream === started) showKept() }, keptAfter)
    resumeUploads()
  }
  reload()
  drainUrgent()
  changed()
}

/**
 * A page that the browser keeps for Back would hold on to the stream, and its person would seem to be there: it lets go
 * of it, and goes on where it was when it is shown again.
 */
export function yieldWhenLeft() {
  document.addEventListener('visibilitychange', () => { if (document.hidden && isChanged) keepNow() })
  addEventListener('pagehide', () => stream?.end())
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return
    if (stream) stream = new SharedStream(model.account.account, handlers, live)
    rereadAccounts()
  })
}

export const retry = () => stream?.retry()

let markAsked
const asked = new Promise((resolve) => { markAsked = resolve })
/** For how long, in milliseconds. */
const patience = 300

/** Waits until the stream is asked for, or another tab has passed on what to show; not for long. */
export const askedForStream = () => Promise.race([asked, new Promise((resolve) => { setTimeout(resolve, patience) })])

const handlers = { onReplica: take, onState: say, onAsked: () => markAsked() }

/** Shows what was kept, in place of what the stream hasn't brought yet. */
async function showKept() {
  const following = stream
  const copy = await keptOf(following.account)
  if (!copy || stream !== following || isWhole(live)) return
  kept = copy
  model.lastLive = copy.at
  show(live)
  changed()
}

/** Shows what the stream brought, and what was kept in place of the rest. */
function show(replica, event) {
  live = replica
  if (isWhole(replica)) kept = undefined
  model.isKept = Boolean(kept)
  model.replica = kept ? completed(kept.replica, replica, event) : replica
}

/** Keeps a copy of what the stream has brought, and of when it last brought something. Only the leading tab does. */
async function keepNow() {
  if (!stream?.isLeading || !isSettled) return
  isChanged = false
  const begun = performance.now()
  await keep(stream.account, live, heardAt).catch(console.warn)
  keepFrom = performance.now() + restShare * (performance.now() - begun)
}

/** Notes what an event means for the copy. People come after the sequences: a heartbeat says that nothing is on its way. */
function considerKeeping({ event }) {
  isSettled = isComplete(live) && (isSettled || event === 'heartbeat')
  if (isComplete(live)) heardAt = now()
  if (event !== 'heartbeat') isChanged = true
  else if (isSettled && isChanged && performance.now() >= keepFrom) (globalThis.requestIdleCallback ?? setTimeout)(keepNow)
}

function take(replica, event) {
  markAsked()
  const wasKept = model.isKept
  show(replica, event)
  if (event) considerKeeping(event)
  hear(event)
  if (event?.event === 'account.snapshot') learnHandle(replica.account.handle)
  // In the same rendering as the event, so that an edit isn't seen to go back and forth.
  if (!model.isKept) {
    if (!event) closeAnew()
    else if (wasKept || event.event.endsWith('.snapshot')) closeAll()
    else close()
  }
  changed()
}

let whenConnected = () => {}

/** Calls `function_` each time that the page has connected. */
export function observeConnecting(function_) {
  whenConnected = function_
}

function say(state) {
  const wasConnected = model.connection.name === 'connected'
  if (wasConnected && state.name !== 'connected') {
    model.lastLive = heardAt ?? now()
    keepNow()
  }
  model.connection = state
  if (state.name === 'connected' && !wasConnected) {
    drainAll()
    resumeUploads()
    keepFiles()
    whenConnected()
  }
  if (['reconnecting', 'disconnected'].includes(state.name) && !kept) showKept()
  changed()
}
