/** Keeps the model live: follows the chosen account's stream, and sends what waits when the connection is back. */
import { model, changed } from '../core/model.js'
import { SharedStream } from './sharing.js'
import { close, closeAll, drainAll, reload } from './outbox.js'

let stream

/** Follows the account that this tab shows now, or none. */
export function follow() {
  stream?.end()
  stream = undefined
  model.replica = undefined
  model.connection = { name: 'disconnected' }
  const account = model.account
  if (account && !account.signedOut) {
    stream = new SharedStream(account.account, { onReplica: take, onState: say })
    reload()
  }
  changed()
}

export const retry = () => stream?.retry()

function take(replica, event) {
  model.replica = replica
  // In the same rendering as the event, so that an edit isn't seen to go back and forth.
  if (!event || event.event.endsWith('.snapshot')) closeAll()
  else close()
  changed()
}

function say(state) {
  const wasConnected = model.connection.name === 'connected'
  model.connection = state
  if (state.name === 'connected' && !wasConnected) drainAll()
  changed()
}
