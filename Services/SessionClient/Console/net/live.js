/** Keeps the model live: follows the chosen account's stream, and sends what waits when the connection is back. */
import { model, changed } from '../core/model.js'
import { now } from '../core/time.js'
import { learnHandle, rereadAccounts } from './accounts.js'
import { hear } from './history.js'
import { SharedStream } from './sharing.js'
import { close, closeAll, closeAnew, drainAll, drainUrgent, reload } from './outbox.js'
import { resumeUploads } from './uploads.js'

let stream

/** Follows the account that this tab shows now, or none. */
export function follow() {
  stream?.end()
  stream = undefined
  model.replica = undefined
  model.connection = { name: 'disconnected' }
  model.lastLive = undefined
  const account = model.account
  if (account && !account.signedOut) {
    stream = new SharedStream(account.account, handlers)
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
  addEventListener('pagehide', () => stream?.end())
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return
    if (stream) stream = new SharedStream(model.account.account, handlers, model.replica)
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

function take(replica, event) {
  markAsked()
  model.replica = replica
  hear(event)
  if (event?.event === 'account.snapshot') learnHandle(replica.account.handle)
  // In the same rendering as the event, so that an edit isn't seen to go back and forth.
  if (!event) closeAnew()
  else if (event.event.endsWith('.snapshot')) closeAll()
  else close()
  changed()
}

function say(state) {
  const wasConnected = model.connection.name === 'connected'
  if (wasConnected && state.name !== 'connected') model.lastLive = now()
  model.connection = state
  if (state.name === 'connected' && !wasConnected) {
    drainAll()
    resumeUploads()
  }
  changed()
}
