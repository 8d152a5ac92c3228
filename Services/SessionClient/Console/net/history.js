/**
 * The history of notifications, which goes back further than the stream's newest ones: read page by page when somebody asks for
 * it, and kept up to date by the same events.
 */
import { changed, model } from '../core/model.js'
import { applyToNotifications } from '../state/notifications.js'
import { read } from './api.js'

/** As many as the server gives at a time. */
const size = 200

/** What was read for an account, newest first; `next` is where the next page begins. */
let history = { list: [] }

/** The promise of what is being read. */
let reading

/** How many events of notifications were heard: what is read while another one comes may be from before it. */
let heard = 0

function current() {
  const account = model.account?.account
  if (history.account !== account) history = { account, list: [], next: undefined, isWhole: false }
  return history
}

/** What was read and isn't among the newest: `{list, isWhole, isReading}`. */
export function older() {
  const { list, isWhole } = current()
  const newest = new Set(model.replica?.notifications?.notifications.map(({ id }) => id))
  return { list: list.filter(({ id }) => !newest.has(id)), isWhole, isReading: reading !== undefined }
}

/** Reads on until one comes that wasn't known and `isWanted`: the first page has the newest ones. */
export function readOlder(isWanted) {
  reading ??= readOn(current().account, () => older().list.filter(isWanted).length).finally(() => { reading = undefined; changed() })
  changed()
  return reading
}

async function readOn(account, count) {
  const known = count()
  while (!current().isWhole && count() === known) {
    const [place, before] = [current().next, heard]
    const { notifications, next } = await pageAt(place)
    const { list } = current()
    if (history.account !== account) return
    // If it was all read again meanwhile, this page doesn't continue it.
    if (history.next !== place || heard !== before) continue
    history = { account, list: [...list, ...notifications], next, isWhole: !next }
  }
}

/** Reads as far as was read before, also meanwhile, and then shows that instead. */
async function readAgain(account) {
  const before = heard
  let [list, next] = [[], undefined]
  do {
    const page = await pageAt(next)
    list = [...list, ...page.notifications]
    next = page.next
  } while (next && list.length < current().list.length)
  if (current().account !== account) return
  if (heard !== before) return readAgain(account)
  history = { account, list, next, isWhole: !next }
  changed()
}

const pageAt = (place) => read(`/v1/notifications?limit=${size}${place ? `&before=${encodeURIComponent(place)}` : ''}`)

/** What happens to notifications, also to those that were read here. Without an event the stream has jumped. */
export function hear(event) {
  if (event && !event.event.startsWith('notifications.')) return
  heard += 1
  const { account, list } = current()
  if (!list.length) return
  if (!event || event.event === 'notifications.snapshot') {
    // Should it fail, what was known stays until the next time.
    readAgain(account).catch(() => {})
  } else if (event.event === 'notifications.event') {
    const { type, body } = event.data
    history = { ...history, list: applyToNotifications({ notifications: list }, type, body, Infinity).notifications }
  }
}
