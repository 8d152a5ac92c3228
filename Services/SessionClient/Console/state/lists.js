/**
 * How lists of contacts are grouped and sorted, and what each says (S47). Pure functions of cards and the time. A card
 * is `{contact, person}`.
 */
import { language, lazily, t } from '../core/language.js'
import { ago, ahead, before, countdown, hour, minute, moment } from '../core/time.js'

/** The name to show: one's own for them first. */
const nameOf = (card) => card.contact?.nickname || card.person?.name || card.person?.handle || t`Someone`

/** How a person is, the worst first. `tone` is how it looks; groups of a list have the titles. */
export const levels = {
  alert: { rank: 0, tone: 'critical', title: () => t`Alert` },
  veryLate: { rank: 1, tone: 'critical', title: () => t`Very late` },
  missed: { rank: 2, tone: 'critical', title: () => t`Missed their check-in` },
  asksMe: { rank: 3, tone: 'warning', title: () => t`Asking about you` },
  pinged: { rank: 4, tone: 'warning', title: () => t`Waiting for an answer` },
  dueSoon: { rank: 5, tone: 'warning', title: () => t`Due soon` },
  notYet: { rank: 6, tone: 'neutral', title: () => t`Not checked in yet` },
  paused: { rank: 7.5, tone: 'neutral', title: () => t`Paused` },
  fine: { rank: 7, tone: 'good', title: () => t`Fine` },
  quiet: { rank: 8, tone: 'neutral', title: () => t`Responders` },
  plain: { rank: 9, tone: 'neutral', title: () => t`Other contacts` },
}

/** From when on a check-in is due soon, and when it is almost late: shares of the interval, so no interval begins with a warning. */
const soon = ({ interval }) => Math.min(2 * hour, interval / 4)
const verySoon = ({ interval }) => Math.min(30 * minute, interval / 10)

/** Whether somebody needs help, or may. */
export const isAlarm = (level) => levels[level].rank <= levels.missed.rank

/** How a contact is. */
export function levelOf({ contact, person }, now) {
  const { checkIn, alertRaised, veryLateFrom } = person ?? {}
  if (alertRaised) return 'alert'
  if (checkIn?.missed) return veryLateFrom <= now ? 'veryLate' : 'missed'
  if (contact.incomingPing) return 'asksMe'
  if (contact.outgoingPing) return 'pinged'
  if (checkIn?.pausedUntil > now) return 'paused'
  if (checkIn?.due) return checkIn.due - now < soon(checkIn) ? 'dueSoon' : checkIn.last ? 'fine' : 'notYet'
  return contact.isMyResponder ? 'quiet' : 'plain'
}

function alertText({ alertRaised, lateCall, trip, unanswered }, now) {
  const since = t`Alert since ${moment(alertRaised, now)}`
  // Who has called for help, too, has done that above all.
  const isCalled = (unanswered ?? trip)?.isCalled
  const called = lateCall ? t`${since}; called for help at ${moment(lateCall.pressed, now)}, received ${moment(lateCall.received, now)}` : isCalled ? t`${since}; called for help` : since
  const asked = unanswered ? t`${called}; hasn’t answered a ping of ${moment(unanswered.pinged, now)}` : called
  if (!trip) return asked
  const eta = moment(trip.eta, now)
  return trip.isCalled ? t`${asked}; was on a trip: ${trip.name}, expected by ${eta}` : t`${asked}; on a trip: ${trip.name}, expected by ${eta}`
}

/** The line that says why. */
export function statusText({ contact, person }, level, now) {
  const { checkIn } = person ?? {}
  switch (level) {
    case 'alert': return alertText(person, now)
    case 'missed': case 'veryLate': return t`Missed the check-in of ${moment(checkIn.due, now)}, ${before(now - checkIn.due)}`
    case 'asksMe': return t`Asked ${ago(contact.incomingPing, now)} whether you are all right`
    case 'pinged': return checkIn?.last > contact.outgoingPing
      ? t`Checked in ${ago(checkIn.last, now)}; your question has no answer yet` : t`You asked ${ago(contact.outgoingPing, now)}; no answer yet`
    case 'dueSoon': return checkIn.due > now ? t`Due ${ahead(checkIn.due - now)}` : t`Due now`
    case 'notYet': return t`First check-in due ${moment(checkIn.due, now)}`
    case 'paused': return t`Check-ins paused until ${moment(checkIn.pausedUntil, now)}`
    case 'fine': return t`Checked in ${ago(checkIn.last, now)}`
    case 'quiet': return t`Looks after you`
    case 'plain': return person ? t`Contact` : t`Loading…`
  }
}

const collator = lazily(() => new Intl.Collator(undefined, { sensitivity: 'base', numeric: true }))
const byName = (left, right) => collator().compare(left.name, right.name) || (left.card.contact.account < right.card.contact.account ? -1 : 1)
const due = (item) => item.card.person?.checkIn?.due ?? Infinity

export const sorts = {
  status: { title: () => t`Status`, compare: (left, right) => levels[left.level].rank - levels[right.level].rank || byName(left, right) },
  name: { title: () => t`Name`, compare: byName },
  due: { title: () => t`Next check-in`, compare: (left, right) => due(left) - due(right) || byName(left, right) },
  added: { title: () => t`Newest`, compare: (left, right) => right.card.contact.added - left.card.contact.added || byName(left, right) },
}

const roles = {
  all: () => true,
  dependents: (card) => card.contact.iAmResponder,
  responders: (card) => card.contact.isMyResponder,
}

/** The letters that names stand under, in the reader's order: Z comes before T in Estonian. */
const letters = lazily(() => [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'].sort(collator().compare)
  .filter((letter, place, all) => place === 0 || collator().compare(all[place - 1], letter) < 0))

/**
 * The letter under which a name stands; `#` for digits and signs, which come first. It follows the order of names, so none
 * comes twice: Łukasz is among those with L where he is sorted among them, Å comes after Z in Swedish.
 */
function initialOf(name) {
  const { compare } = collator()
  const [first = ''] = name.normalize('NFC')
  if (!/\p{L}/u.test(first)) return '#'
  let [low, high] = [0, compare(first, letters().at(-1)) > 0 ? 0 : letters().length]
  while (low < high) {
    const middle = (low + high) >> 1
    compare(letters()[middle], name) <= 0 ? (low = middle + 1) : (high = middle)
  }
  if (low > 0) return letters()[low - 1]
  // Before A, or after the last letter. Accents that mean nothing to the order make no letter of their own.
  const [plain] = first.normalize('NFD')
  return (compare(plain, first) === 0 ? plain : first).toLocaleUpperCase()
}

const titles = {
  status: ({ level }) => levels[level].title(),
  name: ({ name }) => initialOf(name),
}

/** When the level of a card changes although nothing happens. */
function levelUntil({ person }, now) {
  const { checkIn, veryLateFrom } = person ?? {}
  const next = checkIn?.missed ? veryLateFrom : checkIn?.pausedUntil > now ? checkIn.pausedUntil : checkIn && checkIn.due - soon(checkIn) + 1
  return next > now ? next : Infinity
}

/**
 * A list in its order, kept from one time to the next: among thousands of contacts few change at a time, and only those are
 * looked at and find a new place.
 */
export class Arrangement {
  /** By account: `{card, until, item}`; no item where the list leaves it out. */
  #known = new Map()
  #order = []
  #options = ''

  /**
   * The items in order: `[{card, name, level, title}]`, the same array as long as it is the same. Sorted by status there is a
   * title for each level, by name one for each first letter, otherwise none.
   */
  items(cards, { role = 'all', sort = 'status', search = '' } = {}, now) {
    const wanted = search.trim().toLocaleLowerCase()
    const options = `${language()} ${role} ${sort} ${wanted}`
    if (this.#options !== options) {
      this.#options = options
      this.#known.clear()
      this.#order = []
    }
    const before = this.#known
    const [gone, fresh] = [new Set(), []]
    this.#known = new Map()
    for (const card of cards) {
      const { account } = card.contact
      const old = before.get(account)
      before.delete(account)
      const isSame = old && old.card.contact === card.contact && old.card.person === card.person && now < old.until
      this.#known.set(account, isSame ? old : { card, until: levelUntil(card, now), item: itemOf(card, role, sort, wanted, now) })
      if (isSame) continue
      if (old?.item) gone.add(old.item)
      if (this.#known.get(account).item) fresh.push(this.#known.get(account).item)
    }
    for (const { item } of before.values()) if (item) gone.add(item)
    if (gone.size) this.#order = this.#order.filter((item) => !gone.has(item))
    if (fresh.length) this.#order = inserted(this.#order, fresh.sort(sorts[sort].compare), sorts[sort].compare)
    return this.#order
  }
}

function itemOf(card, role, sort, wanted, now) {
  if (!roles[role](card)) return undefined
  const item = { card, name: nameOf(card), level: levelOf(card, now) }
  if (wanted && !item.name.toLocaleLowerCase().includes(wanted) && !card.person?.handle?.includes(wanted)) return undefined
  return Object.assign(item, { title: titles[sort]?.(item) ?? '' })
}

/** A sorted list with more items, which are sorted, too: each finds its place without a look at most of the others. */
function inserted(list, items, compare) {
  const pieces = []
  let from = 0
  for (const item of items) {
    let [low, high] = [from, list.length]
    while (low < high) {
      const middle = (low + high) >> 1
      compare(list[middle], item) < 0 ? (low = middle + 1) : (high = middle)
    }
    pieces.push(list.slice(from, low), [item])
    from = low
  }
  return pieces.concat([list.slice(from)]).flat()
}

/** How much of the time until the next check-in is left, from 1 to 0, and what to say about it. */
export function ringOf(checkIn, now) {
  const left = checkIn.due - now
  if (checkIn.missed) return { share: 0, tone: 'critical', title: t`Missed`, text: before(left) }
  if (left <= 0) {
    const { due, graceEnds } = checkIn
    return graceEnds > now ? { share: (graceEnds - now) / (graceEnds - due), tone: 'critical', title: countdown(graceEnds - now), text: t`until it counts as missed` }
      : { share: 0, tone: 'critical', title: t`Due`, text: t`since ${moment(due, now)}` }
  }
  if (checkIn.pausedUntil > now) return { share: 1, tone: 'neutral', title: t`Paused`, text: t`until ${moment(checkIn.pausedUntil, now)}` }
  const tone = left < verySoon(checkIn) ? 'critical' : left < soon(checkIn) ? 'warning' : 'good'
  return { share: Math.min(1, left / checkIn.interval), tone, title: countdown(left), text: t`until ${moment(checkIn.due, now)}` }
}
