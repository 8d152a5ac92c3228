/**
 * One stream for all tabs of an account. The tab that holds a Web Lock follows the stream and passes events on; the others
 * fold them as well, so when that tab is closed the next one continues exactly where it was.
 *
 * Messages: `hello` (from a tab that lacks the state), `replica` (the state, as of `sequence`), `event` (the next one),
 * `state` (how the connection is). A tab that misses one, or hears of a new leader, says hello again.
 */
import { Connection } from './connection.js'
import { apply, emptyReplica, followed, isComplete, reconnecting } from '../state/replica.js'

export class SharedStream {
  #me = crypto.randomUUID()
  #stop = new AbortController()
  /** Whom it follows, and how far. */
  #leader
  #sequence = 0
  #connection

  /**
   * @param {object} handlers `onReplica(replica, event)`; `onState(state)`; `onAsked()`: this tab asked for the stream
   * @param {object} replica where to go on
   */
  constructor(account, handlers, replica = emptyReplica()) {
    this.account = account
    this.handlers = handlers
    this.replica = replica
    this.channel = new BroadcastChannel(`quartet-${account}`)
    this.channel.onmessage = ({ data }) => this.#hear(data)
    this.channel.postMessage({ type: 'hello' })
    navigator.locks.request(`quartet-stream-${account}`, { signal: this.#stop.signal }, () => this.#lead()).catch(() => {})
    for (const event of ['online', 'offline']) addEventListener(event, () => this.#connection?.networkChanged(), { signal: this.#stop.signal })
    addEventListener('focus', () => this.#connection?.wake(), { signal: this.#stop.signal })
  }

  /** Stops following; the tab shows another account or none. */
  end() {
    this.#stop.abort()
    this.channel.close()
  }

  /** Tries to connect now, in whichever tab. */
  retry() {
    this.#connection ? this.#connection.retry() : this.channel.postMessage({ type: 'retry' })
  }

  async #lead() {
    this.#leader = this.#me
    this.#connection = new Connection(this.account, {
      lastID: () => this.replica.lastID,
      isComplete: () => isComplete(this.replica),
      groups: () => followed(this.replica),
      onAsked: () => this.handlers.onAsked(),
      onState: (state) => {
        if (state.name !== 'connected') this.replica = reconnecting(this.replica)
        this.#tell({ type: 'state', state })
        this.#setState(state)
      },
      onEvent: (event) => {
        this.#take(event)
        this.#tell({ type: 'event', event, sequence: this.#sequence })
        if (event.event === 'groups') this.#connection.followGroups()
      },
    })
    await this.#connection.run(this.#stop.signal)
  }

  #tell(message) {
    if (!this.#stop.signal.aborted) this.channel.postMessage({ ...message, from: this.#me })
  }

  #take(event) {
    this.replica = apply(this.replica, event)
    this.#sequence += 1
    this.handlers.onReplica(this.replica, event)
  }

  #setState(state) {
    this.state = state
    this.handlers.onState(state)
  }

  #hear(message) {
    if (this.#connection) return this.#answer(message)
    if (message.type === 'replica') {
      this.#leader = message.from
      this.#sequence = message.sequence
      this.replica = message.replica
      this.#setState(message.state)
      return this.handlers.onReplica(this.replica)
    }
    if (message.from && message.from !== this.#leader) return this.channel.postMessage({ type: 'hello' })
    if (message.type === 'state') this.#setState(message.state)
    if (message.type === 'event') {
      message.sequence === this.#sequence + 1 ? this.#take(message.event) : this.channel.postMessage({ type: 'hello' })
    }
  }

  #answer({ type }) {
    if (type === 'retry') this.#connection.retry()
    if (type === 'hello') this.#tell({ type: 'replica', replica: this.replica, sequence: this.#sequence, state: this.state })
  }
}
