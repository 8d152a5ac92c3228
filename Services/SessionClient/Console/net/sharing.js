/**
 * One stream for all tabs of an account. The tab that holds a Web Lock follows the stream and passes events on; the others
 * fold them as well, so when that tab is closed the next one continues exactly where it was.
 *
 * Messages: `hello` (from a tab that lacks the state), `replica` (the state, as of `sequence`), `event` (the next one),
 * `state` (how the connection is), `ask` (whether somebody leads) and its answer, `alive`. A tab that misses one, or hears of a new
 * leader, says hello again.
 *
 * Browsers freeze tabs in the background, and their locks with them. A leader of which nothing is heard loses the lock to a tab that
 * listened, and becomes a follower when it goes on. While it is connected it passes on heartbeats; otherwise it is asked.
 */
import { Connection } from './connection.js'
import { apply, emptyReplica, followed, isComplete, reconnecting } from '../state/replica.js'

/** How often a tab looks whether it heard of its leader, in milliseconds, and how often in a row it may not have: longer than a heartbeat takes. */
const look = 10_000
const silencesAllowed = 3

/** Within how many milliseconds the list of group sessions has what a session's own sequence says, by far. */
const listDelay = 2000

export class SharedStream {
  #me = crypto.randomUUID()
  #stop = new AbortController()
  /** Whom it follows, and how far. */
  #leader
  #sequence = 0
  #connection
  /** Ends the wait for the lock. */
  #waiting
  /** How often in a row it looked and had heard nothing from its leader. Counted in looks: a tab that was frozen itself looked at nothing. */
  #silences = 0
  #timer

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
    this.#contend()
    this.#timer = setInterval(() => this.#listen(), look)
    for (const event of ['online', 'offline']) addEventListener(event, () => this.#connection?.networkChanged(), { signal: this.#stop.signal })
    addEventListener('focus', () => this.#connection?.wake(), { signal: this.#stop.signal })
  }

  /** Whether this tab follows the stream itself. */
  get isLeading() {
    return Boolean(this.#connection)
  }

  /** Stops following; the tab shows another account or none. */
  end() {
    this.#stop.abort()
    clearInterval(this.#timer)
    this.channel.close()
  }

  /** Waits for the lock, or takes it, and leads until it is taken away. */
  async #contend(isStealing = false) {
    this.#waiting?.abort()
    this.#waiting = new AbortController()
    const lost = new AbortController()
    const options = isStealing ? { steal: true } : { signal: AbortSignal.any([this.#stop.signal, this.#waiting.signal]) }
    const { signal } = this.#waiting
    try {
      await navigator.locks.request(`quartet-stream-${this.account}`, options, () => this.#lead(AbortSignal.any([this.#stop.signal, lost.signal])))
    } catch {
      lost.abort()
      // Another tab took it. This one follows, and waits its turn.
      if (this.#connection && !this.#stop.signal.aborted && !signal.aborted) this.#follow()
    }
  }

  #follow() {
    this.#connection = undefined
    this.#leader = undefined
    this.channel.postMessage({ type: 'hello' })
    this.#contend()
  }

  /** Asks for a sign of the leader if there was none since the last look, and takes over if there are none at all. */
  #listen() {
    if (this.#connection) return
    if (this.#silences >= silencesAllowed) {
      this.#silences = 0
      this.#contend(true)
    } else {
      if (this.#silences > 0) this.channel.postMessage({ type: 'ask' })
      this.#silences += 1
    }
  }

  /** Tries to connect now, in whichever tab. */
  retry() {
    this.#connection ? this.#connection.retry() : this.channel.postMessage({ type: 'retry' })
  }

  async #lead(signal) {
    if (signal.aborted) return
    this.#leader = this.#me
    this.#connection = new Connection(this.account, {
      lastID: () => this.replica.lastID,
      isComplete: () => isComplete(this.replica),
      groups: () => followed(this.replica, this.account),
      onAsked: () => this.handlers.onAsked(),
      onState: (state) => {
        if (signal.aborted) return
        if (state.name !== 'connected') this.replica = reconnecting(this.replica)
        this.#tell({ type: 'state', state })
        this.#setState(state)
      },
      onEvent: (event) => {
        if (signal.aborted) return
        this.#take(event)
        this.#tell({ type: 'event', event, sequence: this.#sequence })
        if (event.event === 'groups') this.#connection.followGroups()
        // Left and joined again at once: the list may say nothing, since for it nothing has changed.
        if (event.event === 'group.ended') setTimeout(() => { if (!signal.aborted) this.#connection.followGroups() }, listDelay)
      },
    })
    await this.#connection.run(signal)
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
    // Of one that says to be connected, only what its stream brings counts.
    if (message.from && (message.type !== 'alive' || this.state?.name !== 'connected')) this.#silences = 0
    if (message.type === 'alive' && message.from === this.#leader) return undefined
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
    // Frozen tabs hear messages, and have no timers.
    if (type === 'ask') setTimeout(() => this.#tell({ type: 'alive' }))
    if (type === 'hello') this.#tell({ type: 'replica', replica: this.replica, sequence: this.#sequence, state: this.state })
  }
}
