/** Times as the server counts them. Microseconds since 1970, like everything in the API. */
import { lazily, t } from './language.js'

/** How far the server's clock is ahead of this device's, in milliseconds. */
let offset = 0
/** What the latest answers that have exact times say about that: at least, at most. */
let bounds = []
const boundsKept = 8

/** Learns the server's time from the header `Date` of an answer, which has whole seconds. */
export function observe(dateHeader) {
  const server = Date.parse(dateHeader ?? '')
  if (Number.isNaN(server)) return
  const difference = server + 500 - Date.now()
  if (Math.abs(difference - offset) > 1500) {
    offset = difference
    bounds = []
  }
}

/**
 * Learns the server's time from an answer that says when the request was there and when it was answered, in microseconds.
 * @param {number} asked when it was sent, by this device's clock in milliseconds
 * @param {number} answered when the answer was here
 */
export function observeExactly({ received, sent }, asked, answered) {
  bounds = [...bounds, { least: sent / 1000 - answered, most: received / 1000 - asked }].slice(-boundsKept)
  let least = Math.max(...bounds.map((one) => one.least))
  let most = Math.min(...bounds.map((one) => one.most))
  // A clock was set: what was learnt before doesn't hold any more.
  if (least > most) {
    bounds = bounds.slice(-1)
    ;[{ least, most }] = bounds
  }
  offset = (least + most) / 2
}

/** The server's time, in microseconds. */
export const now = () => Math.round((Date.now() + offset) * 1000)

/** A new Idempotency-Key: a UUID of version 7 that carries the server's time, so a wrong clock here doesn't matter. */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  let time = Math.floor(now() / 1000)
  for (let place = 5; place >= 0; place--) {
    bytes[place] = time % 256
    time = Math.floor(time / 256)
  }
  bytes[6] = 0x70 | (bytes[6] & 0x0f)
  bytes[8] = 0x80 | (bytes[8] & 0x3f)
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

export const second = 1_000_000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour

const units = [[day, 'day'], [hour, 'hour'], [minute, 'minute'], [second, 'second']]

/** A span's largest unit, and how many of it there are. */
function inUnits(microseconds) {
  const length = Math.abs(microseconds)
  const [size, unit] = units.find(([size]) => length >= size) ?? units.at(-1)
  return [Math.max(1, Math.floor(length / size)), unit]
}

const spans = lazily((locale) => Object.fromEntries(units.map(([, unit]) => [unit, new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' })])))
const relative = lazily((locale) => new Intl.RelativeTimeFormat(locale))

/** A span in its largest unit: `3 hours`. */
export function span(microseconds) {
  const [count, unit] = inUnits(microseconds)
  return spans()[unit].format(count)
}

/** How far ahead something is: `in 3 hours`. */
export const ahead = (microseconds) => relative().format(...inUnits(microseconds))

/** How long ago something was: `3 hours ago`. */
export function before(microseconds) {
  const [count, unit] = inUnits(microseconds)
  return relative().format(-count, unit)
}

/** A span as a countdown: `2 d 3 h`, `23 h 59 min`, and in the last hour `59:58`. */
export function countdown(microseconds) {
  const seconds = Math.max(0, Math.floor(microseconds / second))
  const [days, hours, minutes] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60]
  if (days) return t`${days} d ${hours} h`
  return hours ? t`${hours} h ${minutes} min` : `${minutes}:${String(seconds % 60).padStart(2, '0')}`
}

/** A position in something that plays: `3:05`. */
export function time(microseconds) {
  const seconds = Math.floor(microseconds / second)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

/** When something happened: `just now`, `3 hours ago`. */
export function ago(time, at = now()) {
  return at - time < 10 * second ? t`just now` : before(at - time)
}

const clock = lazily((locale) => new Intl.DateTimeFormat(locale, { hour: 'numeric', minute: '2-digit' }))
const date = lazily((locale) => new Intl.DateTimeFormat(locale, { weekday: 'short', day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit' }))

/** A time of day, with its date unless it is today. */
export function moment(time, at = now()) {
  const when = new Date(time / 1000)
  return (when.toDateString() === new Date(at / 1000).toDateString() ? clock : date)().format(when)
}
