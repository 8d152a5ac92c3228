/**
 * Follows the stream of an account, and says how that goes. It connects again by itself, with growing pauses at random,
 * and continues exactly where it was.
 *
 * States: `connecting`, `connected`, `reconnecting` (with `attempt`), `disconnected` (with `reason`; it tries again when
 * the network is back or somebody asks), `needsAuthentication` (with `reason`).
 */
import { t } from '../core/language.js'
import { signOutWords } from '../core/words.js'
import { accessToken, deviceOf, markSignedOut, NeedsSignIn } from './accounts.js'
import { EventReader } from './events.js'
import { Problem, send } from './http.js'

/** Nothing for so long means that the connection is dead: the server sends something every 15 seconds. */
const silence = 40_000
/** How often it tries before it says that it is disconnected, and how long it then waits. */
const attempts = 10
/** When the next token is fetched: so many milliseconds for each second of the present one. */
const lateness = 700
const rest = 60_000

/** The pause before an attempt, in milliseconds: anything up to a limit that doubles, so that not all come at once. */
export const pause = (attempt, random = Math.random) => Math.max(200, random() * Math.min(30_000, 1000 * 2 ** (attempt - 1)))

export class Connection {
  /**
   * @param {object} handlers `onAsked()`: the stream was asked for; `onEvent({id, event, data})`, where data is decoded;
   *   `onState(state)`; `lastID()`; `isComplete()`: whether every stream has begun; `groups()`: the group sessions to follow
   */
  constructor(account, handlers) {
    this.account = account
    this.handlers = handlers
    this.attempt = 0
    this.wake = () => {}
    this.drop = () => {}
    this.groups = []
    this.isChangingGroups = false
  }

  #say(state) {
    this.state = state
    this.handlers.onState(state)
  }

  /** Follows the stream until `signal` says stop, or until the account has to sign in. */
  async run(signal) {
    this.#say({ name: 'connecting' })
    while (!signal.aborted) {
      try {
        const end = await this.#follow(signal)
        if (end?.reason === 'tokenExpired') continue
        if (end?.reason === 'signedOut') {
          const reason = signOutWords(end.why)
          const isHere = await markSignedOut(this.account, this.device, t`You have to sign in again: ${reason}.`, end.why)
          if (isHere) return this.#say({ name: 'needsAuthentication', reason })
          continue
        }
      } catch (error) {
        if (signal.aborted) return
        if (this.isChangingGroups) continue
        this.trouble = error instanceof Problem ? error.message : undefined
        if (error instanceof NeedsSignIn) return this.#say({ name: 'needsAuthentication', reason: error.message })
      }
      if (!signal.aborted) await this.#waitForNext(signal)
      if (this.state.name === 'disconnected') this.#say({ name: 'connecting' })
    }
  }

  async #waitForNext(signal) {
    this.attempt += 1
    const isOffline = navigator.onLine === false
    if (isOffline || this.attempt > attempts) {
      this.#say({ name: 'disconnected', reason: isOffline ? t`this device is offline` : this.trouble ?? t`the server doesn’t answer` })
      await this.#sleep(rest, signal)
    } else {
      this.#say({ name: 'reconnecting', attempt: this.attempt })
      await this.#sleep(pause(this.attempt), signal)
    }
  }

  /** Waits, unless `wake` is called. */
  #sleep(time, signal) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, time)
      this.wake = () => { clearTimeout(timer); resolve() }
      signal.addEventListener('abort', this.wake, { once: true })
    })
  }

  /** Tries again now. */
  retry() {
    this.attempt = 0
    this.wake()
  }

  /** Connects anew if there are more group sessions to follow: it goes on where it was. What was left is just not asked for next time. */
  followGroups() {
    if (this.handlers.groups().every((group) => this.groups.includes(group))) return
    this.isChangingGroups = true
    this.drop()
  }

  /** The device lost its network or has it again. */
  networkChanged() {
    navigator.onLine === false ? this.drop() : this.wake()
  }

  /** One connection from its beginning to its end; returns the reason that the server gave, if any. */
  async #follow(signal) {
    this.isChangingGroups = false
    this.groups = this.handlers.groups()
    this.device = await deviceOf(this.account)
    const token = await accessToken(this.account)
    const timer = new Watchdog(silence)
    this.drop = () => timer.abort()
    try {
      const asking = fetch(`/v1/stream${this.groups.map((group, place) => `${place ? '&' : '?'}group=${group}`).join('')}`, {
        headers: { Authorization: `Bearer ${token}`, ...(this.handlers.lastID() && { 'Last-Event-ID': this.handlers.lastID() }) },
        credentials: 'omit', cache: 'no-store', signal: AbortSignal.any([signal, timer.signal]),
      })
      this.handlers.onAsked()
      const response = await asking
      if (response.status === 401) {
        await accessToken(this.account, token)
        throw new Error('refused')
      }
      if (!response.ok) throw new Error(t`the server answered ${response.status}`)
      return await this.#read(response.body.getReader(), timer, token)
    } finally {
      timer.stop()
      this.drop = () => {}
      clearTimeout(this.renewal)
      this.stream = undefined
    }
  }

  /** Presents the next access token for the stream before this one ends, so that the stream outlives it. */
  #outlive(token, expiresIn) {
    const { stream } = this
    this.renewal = setTimeout(async () => {
      try {
        const next = await accessToken(this.account, token)
        const { body } = await send('POST', '/v1/stream/token', { body: { stream }, token: next })
        if (this.stream === stream) this.#outlive(next, body.expiresIn)
      } catch {
        // The stream ends with its token. The next one goes on where it stopped.
      }
    }, expiresIn * lateness)
  }

  async #read(reader, timer, token) {
    const events = new EventReader()
    const decoder = new TextDecoder()
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return undefined
      timer.reset()
      for (const event of events.push(decoder.decode(value, { stream: true }))) {
        const data = JSON.parse(event.data)
        if (event.event === 'end') {
          reader.cancel().catch(() => {})
          return data
        }
        if (event.event === 'begun') {
          this.stream = data.stream
          this.#outlive(token, data.expiresIn)
          data.groups = this.groups
        }
        // Joined again, it has to be asked for again.
        if (event.event === 'group.ended') this.groups = this.groups.filter((group) => group !== data.group)
        this.handlers.onEvent({ id: event.id, event: event.event, data })
        if (this.state.name !== 'connected' && this.handlers.isComplete()) {
          this.attempt = 0
          this.#say({ name: 'connected' })
        }
      }
    }
  }
}

/** Aborts its signal unless it is reset in time. */
class Watchdog {
  #controller = new AbortController()
  #timer

  constructor(time) {
    this.time = time
    this.reset()
  }

  get signal() {
    return this.#controller.signal
  }

  reset() {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.abort(), this.time)
  }

  abort() {
    this.#controller.abort()
  }

  stop() {
    clearTimeout(this.#timer)
  }
}
