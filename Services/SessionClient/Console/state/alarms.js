/** Whose alarm is on, which notifications speak of one that is over, and who would be told of one's own. Pure functions of the replica. */
import { t } from '../core/language.js'
import { moment } from '../core/time.js'
import { isOfGrace } from '../core/words.js'
import { isAlarm, levelOf, levels } from './lists.js'

/** Those whom one looks after and whose alarm is on, the worst first: `{card, level}`, where a card is `{contact, person}`. */
export function alarmsOf(replica, now) {
  const { contacts, people } = replica ?? {}
  return [...(contacts?.contacts.values() ?? [])]
    .map((contact) => ({ contact, person: people.get(contact.account) }))
    .map((card) => ({ card, level: levelOf(card, now) }))
    .filter(({ level }) => isAlarm(level))
    .sort((left, right) => levels[left.level].rank - levels[right.level].rank)
}

/** What tells of an alarm that is on, by its level. */
export const kindOf = (level) => (level === 'alert' ? 'dependentAlertRaised' : 'dependentCheckInMissed')

/** Whether the alarm that a notification tells of isn't on any more. */
export function isOver({ kind, subject, created, details }, replica) {
  // One without a time comes from notifications of an earlier release.
  if (kind === 'checkInMissed' && !details?.alarm && replica.account?.checkIn.graceEnds && details?.deadline === replica.account.checkIn.due) return false
  if (details?.trip && kind !== 'alertRaised') return replica.account?.trip?.id !== details.trip || replica.account.trip.eta !== details.deadline || Boolean(replica.account.trip.alarm)
  if (details?.pinged && ['checkInMissed', 'checkInReminder'].includes(kind)) {
    const asker = replica.contacts?.contacts.get(details.pinger)
    return asker?.incomingPing !== details.pinged || !asker?.incomingPingDue
  }
  if (isOfGrace(details)) return replica.account?.checkIn.graceEnds !== details.graceEnds
  const one = kind.startsWith('dependent') ? replica.people.get(subject) : replica.account
  const current = kind.endsWith('AlertRaised') || kind === 'alertRaised' ? one?.alertAlarm : one?.checkIn?.alarm
  if (details?.alarm && current && details.alarm !== current) return true
  const isMissed = (checkIn) => checkIn?.missed && (!details?.deadline || details.deadline === checkIn.due)
  const isRaised = (since) => since !== undefined && created >= since
  switch (kind) {
    case 'alertRaised': return !isRaised(replica.account?.alertRaised)
    case 'checkInMissed': return !isMissed(replica.account?.checkIn)
    case 'dependentAlertRaised': return !isRaised(replica.people.get(subject)?.alertRaised)
    case 'dependentCheckInMissed': return !isMissed(replica.people.get(subject)?.checkIn)
    default: return false
  }
}

/** The alarm of a person that is on, the worse of two. */
export const alarmOf = (person) => (person?.alertRaised ? person.alertAlarm : person?.checkIn?.missed ? person.checkIn.alarm : undefined)

const weights = ['needsHelp', 'safe', 'onIt', 'cannot']

/** What responders answered to an alarm, what matters most first. */
export const answersTo = (alarm, { contacts }) => (contacts?.alarmAnswers ?? []).filter((one) => one.alarm === alarm)
  .sort((left, right) => weights.indexOf(left.answer) - weights.indexOf(right.answer) || right.answered - left.answered)

/** What one of them says; oneself, if there is no name. */
export function answerText({ answer, until, answered }, name, now) {
  switch (answer) {
    case 'onIt': {
      const time = moment(until, now)
      if (until > now) return name ? t`${name} is on it until ${time}` : t`You are on it until ${time}`
      return name ? t`${name} was on it until ${time}` : t`You were on it until ${time}`
    }
    case 'safe': return name ? t`${name} says: reached, and safe (${moment(answered, now)})` : t`You said: reached, and safe (${moment(answered, now)})`
    case 'needsHelp': return name ? t`${name} says: help is needed (${moment(answered, now)})` : t`You said: help is needed (${moment(answered, now)})`
    case 'cannot': return name ? t`${name} can’t do anything (${moment(answered, now)})` : t`You can’t do anything (${moment(answered, now)})`
  }
}

/** Whether somebody does something about the alarm now. */
export const isAnswered = (answers, now) => answers.some(({ answer, until }) => answer === 'onIt' && until > now)
  || (answers.some(({ answer }) => answer === 'safe') && !answers.some(({ answer }) => answer === 'needsHelp'))

/** Who hears of a missed check-in, in the order in which they do: `{after, responders}`, beginning with those who hear at once. */
export function hearingOrder({ contacts }) {
  if (!contacts) return []
  const isResponder = (account) => contacts.contacts.get(account)?.isMyResponder
  const later = (contacts.responderTiers ?? []).map(({ after, responders }) => ({ after, responders: responders.filter(isResponder) }))
    .filter(({ responders }) => responders.length)
  const isLater = new Set(later.flatMap(({ responders }) => responders))
  const first = respondersOf({ contacts }).map(({ account }) => account).filter((account) => !isLater.has(account))
  if (first.length) return [{ after: 0, responders: first }, ...later]
  // It is the next ones' turn at once.
  return later.map((tier, place) => (place ? tier : { ...tier, after: 0 }))
}

/** The tiers in which one responder hears at another time; 0 for with the first. */
export function movedTo(after, responder, tiers = []) {
  const others = tiers.map((tier) => ({ ...tier, responders: tier.responders.filter((one) => one !== responder) }))
  const there = others.find((tier) => tier.after === after)?.responders ?? []
  return [...others.filter((tier) => tier.after !== after && tier.responders.length), ...(after ? [{ after, responders: [...there, responder] }] : [])]
    .sort((left, right) => left.after - right.after)
}

/** Who is told when one misses a check-in or raises an alert; undefined while that isn't known. */
export const respondersOf = ({ contacts }) => contacts && [...contacts.contacts.values()].filter((one) => one.isMyResponder)
