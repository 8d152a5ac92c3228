/** What this tab knows and shows. After changing it, call `changed`: the page is then rendered once. */
export const model = {
  /** The accounts that are signed in in this browser: `{account, device, handle, name, signedOut}`. */
  accounts: [],
  /** The one that this tab shows, or undefined. */
  account: undefined,
  /** What the server published, as far as this tab has heard (state/replica.js). */
  replica: undefined,
  /** Whether that is only what was kept of an earlier time (net/kept.js). Nothing is concluded from it. */
  isKept: false,
  /** How the stream is (net/connection.js). */
  connection: { name: 'disconnected' },
  /** Until when what is shown was up to date, at the server's time; undefined while it is, or if it never was. */
  lastLive: undefined,
  /** What waits to be sent or decided (net/outbox.js). */
  outbox: [],
  /** The same of other accounts of this browser, as far as it is urgent. */
  others: [],
  /** Files on their way to the server (net/uploads.js). */
  uploads: [],
  route: { path: '/', params: {} },
  /** Functions that describe open dialogs, the topmost last. */
  dialogs: [],
  toasts: [],
  /** Whether the whole player is shown (core/player.js). */
  isPlayerShown: false,
}

let draw = () => {}
let isScheduled = false

/** Sets the function that renders the page. */
export function drawWith(function_) {
  draw = function_
}

/** Renders soon, once, however often it is called. */
export function changed() {
  if (isScheduled) return
  isScheduled = true
  // A hidden page has no animation frames, but its title shows the badge.
  document.hidden ? setTimeout(drawNow) : requestAnimationFrame(drawNow)
}

// A tab that is left before the frame that it asked for gets none: its title and icon would miss an alarm.
globalThis.document?.addEventListener?.('visibilitychange', () => { if (isScheduled && document.hidden) drawNow() })

function drawNow() {
  isScheduled = false
  draw()
}
