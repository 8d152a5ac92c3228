/** What stands above every page until it is over: what people of this browser sent and didn't go out, and the alarms of those whom this one looks after. */
import { h } from '../core/view.js'
import { plural, t } from '../core/language.js'
import { model } from '../core/model.js'
import { moment, now, second } from '../core/time.js'
import { command } from '../core/actions.js'
import { nameOf } from '../core/lanes.js'
import { go } from '../core/router.js'
import { toast } from '../core/toasts.js'
import { choose } from '../net/accounts.js'
import { Problem } from '../net/http.js'
import { drop, isKnownDone, takeBack, tryNow } from '../net/outbox.js'
import { alarmsOf, kindOf } from '../state/alarms.js'
import { statusText } from '../state/lists.js'
import { confirm } from './dialogs.js'
import { iconOf } from './icons.js'
import { personName } from './names.js'
import { button } from './pieces.js'

/** What waits: one's own, and another account's; what it means that it does, and what it may mean once the server may have it. */
const kinds = {
  RaiseAlert: () => [t`your alert`, (who) => t`the alert of ${who}`, t`Nobody is told yet. Call somebody, or an emergency number.`,
    t`Perhaps nobody is told. Call somebody, or an emergency number.`],
  ClearAlert: () => [t`the end of your alert`, (who) => t`the end of the alert of ${who}`, t`Responders may still see the alert.`, t`Responders may still see the alert.`],
  AcknowledgeAlarm: () => [t`your answer to an alarm`, (who) => t`the answer of ${who} to an alarm`, t`Nobody sees it yet.`, t`Perhaps nobody sees it.`],
  StartTrip: () => [t`your trip`, (who) => t`the trip of ${who}`, t`It hasn’t begun: no alert is raised if you don’t arrive.`, t`Perhaps it hasn’t begun.`],
  ExtendTrip: () => [t`another end of your trip`, (who) => t`another end of the trip of ${who}`, t`An alert is raised at the former time.`, t`An alert may be raised at the former time.`],
  EndTrip: () => [t`the end of your trip`, (who) => t`the end of the trip of ${who}`, t`An alert is raised when its time has passed.`, t`An alert may be raised when its time has passed.`],
  CheckIn: () => [t`your check-in`, (who) => t`the check-in of ${who}`, t`The timer goes on.`, t`The timer may go on.`],
}
const answer = () => [t`your answer`, (who) => t`the answer of ${who}`, t`Whoever asked doesn’t know yet that all is well.`, t`Whoever asked may not know yet that all is well.`]
const kindOfEntry = (entry) => (kinds[nameOf(entry)] ?? answer)()

const accountOf = ({ account }) => model.accounts.find((one) => one.account === account)
const isOwn = ({ account }) => account === model.account?.account

/** What an entry is, as its person calls it, or as somebody else does. */
function whatOf(entry) {
  const [own, other] = kindOfEntry(entry)
  const handle = accountOf(entry)?.handle
  return isOwn(entry) ? own : other(handle ? `@${handle}` : t`another account`)
}

const capital = (text) => text[0].toUpperCase() + text.slice(1)

/** For how long an answer may take before its absence is said: while there is a connection, and without one. */
const patience = () => (model.connection.name === 'connected' ? 3 * second : second)

/** The urgent entries that didn't go out, as far as anybody knows: they wait for longer than a moment, or it is too late for them. */
const overdue = () => [...model.outbox, ...model.others]
  .filter((entry) => entry.isUrgent && !isKnownDone(entry))
  .filter((entry) => entry.state === 'refused' || (entry.state === 'waiting' && (entry.isStuck || entry.created < now() - patience())))
  .sort((left, right) => (nameOf(right) === 'RaiseAlert') - (nameOf(left) === 'RaiseAlert'))

export function banners() {
  const alarms = alarmsOf(model.replica, now())
  return h('div', { class: 'banners', key: 'banners' },
    overdue().map(notSent), alarms.slice(0, alarmsShown).map(alarm),
    alarms.length > alarmsShown && h('a', { key: 'more', class: 'banner critical', href: '/contacts' }, plural(alarms.length - alarmsShown, t`${alarms.length - alarmsShown} more alarm`, t`${alarms.length - alarmsShown} more alarms`)))
}

const alarmsShown = 3

/** What is known of an entry: `unsent`, `unknown` (the server may have it), or `refused` by the server. */
function standing({ state, problem, isSent }) {
  if (state === 'waiting') return isSent ? 'unknown' : 'unsent'
  return { expired: 'unsent', superseded: 'unsent', unknown: 'unknown' }[problem.code] ?? 'refused'
}

function heading(entry) {
  const what = whatOf(entry)
  switch (standing(entry)) {
    case 'unsent': return entry.state === 'waiting' ? t`${capital(what)} has NOT gone out` : t`${capital(what)} was NOT sent`
    case 'unknown': return t`It isn’t known whether ${what} went out`
    case 'refused': return t`${capital(what)} was refused`
  }
}

function notSent(entry) {
  const isOver = entry.state === 'refused'
  return h('div', { key: `outbox-${entry.id}`, class: 'banner critical', role: 'alert' }, iconOf('alert'),
    h('span', {}, h('strong', {}, heading(entry)), h('small', {}, isOver ? entry.problem.message : waitingText(entry))),
    h('span', { class: 'actions' }, isOver ? button('OK', () => drop(entry.id), { kind: 'small' }) : waysOn(entry)))
}

function waitingText(entry) {
  const [, , unsent, unknown] = kindOfEntry(entry)
  const since = moment(entry.created)
  if (accountOf(entry)?.signedOut) return `${entry.isSent ? unknown : unsent} ${t`It isn’t sent before you sign in again.`}`
  return entry.isSent ? `${unknown} ${t`Trying since ${since}; no answer yet.`}` : `${unsent} ${t`Waiting since ${since}.`}`
}

function waysOn(entry) {
  const signIn = async () => { await choose(entry.account); go('/welcome') }
  return [
    button(entry.isSent ? t`Stop trying` : t`Don’t send`, () => stop(entry), { kind: 'small' }),
    !accountOf(entry)?.signedOut ? button(t`Try now`, () => tryNow(entry), { kind: 'small primary' })
      : !isOwn(entry) && button(t`Sign in`, signIn, { kind: 'small primary' }),
  ]
}

/** Takes back what waits. What the server may have is over there alone. */
async function stop(entry) {
  if (!(await takeBack(entry))) return
  const what = capital(whatOf(entry))
  if (nameOf(entry) !== 'RaiseAlert') return toast(t`${what} may have arrived: it was tried before.`, 'warning')
  const isSure = await confirm({
    title: t`${what} may have gone out`, action: t`End the alert`, kind: 'primary',
    text: () => (isKnownDone(entry) ? t`It arrived, and the alert is on. Responders are told until it is ended.`
      : t`It was tried before, and isn’t tried again. If it arrived, responders are told until it is ended.`),
  })
  if (!isSure) return
  // The one that arrived, if any did; never one of later.
  const alarm = isKnownDone(entry) ? model.replica.account.alertAlarm : undefined
  command('ClearAlert', { alarm, pressed: alarm ? now() : entry.fields.pressed ?? now() }, { account: entry.account }).catch((error) => {
    // What doesn't get through has a card that stays.
    if (error instanceof Problem) toast(error.message, 'critical')
  })
}

function alarmWords(name, level, { trip, unanswered }) {
  if (level !== 'alert') return t`${name} missed a check-in`
  if (unanswered && !unanswered.isCalled) return t`${name} hasn’t answered a ping`
  return trip && !trip.isCalled ? t`${name} hasn’t arrived from a trip` : t`${name} raised an alert`
}

const alarm = ({ card, level }) =>
  h('div', { key: `alarm-${card.contact.account}-${level}`, class: 'banner critical', role: 'alert', 'data-shows': `${kindOf(level)}/${card.contact.account}` }, iconOf('alert'),
    h('a', { href: `/contacts/${card.contact.account}` },
      h('strong', {}, alarmWords(personName(card.contact.account), level, card.person)),
      h('small', {}, statusText(card, level, now()))))

/** What the title begins with while there is an alarm, or something urgent that didn't go out. */
export function alarmTitle() {
  const waiting = overdue()
  if (waiting.length) return `(!) ${capital(whatOf(waiting[0]))}: ${{ unsent: t`NOT sent`, unknown: t`no answer`, refused: t`refused` }[standing(waiting[0])]} · `
  const alarms = alarmsOf(model.replica, now())
  if (!alarms.length) return undefined
  const then = model.isKept ? `${t`then`}, ` : ''
  if (alarms.length > 1) return `(!) ${then}${t`${alarms.length} alarms`} · `
  const [{ card, level }] = alarms
  return `(!) ${then}${personName(card.contact.account)}: ${level === 'alert' ? t`alert` : t`missed`} · `
}
