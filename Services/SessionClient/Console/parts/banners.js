/** What stands above every page until it is over: what this person sent and didn't go out, and the alarms of those whom they look after. */
import { h } from '../core/view.js'
import { model } from '../core/model.js'
import { moment, now, second } from '../core/time.js'
import { act, isUrgent } from '../core/actions.js'
import { drop, tryNow } from '../net/outbox.js'
import { alarmsOf } from '../state/alarms.js'
import { statusText } from '../state/lists.js'
import { iconOf } from './icons.js'
import { personName } from './names.js'
import { button } from './pieces.js'

/** What waits, as its person knows it, and what it means that it does. */
const unsent = {
  RaiseAlert: ['Your alert', 'Nobody is told yet. Call somebody, or an emergency number.'],
  ClearAlert: ['The end of your alert', 'Your responders may still see the alert.'],
  CheckIn: ['Your check-in', 'Your timer goes on.'],
}
const answer = ['Your answer', 'Whoever asked doesn’t know yet that you are all right.']
const nameOf = ({ path }) => path.split('/').at(-1)

/** For how long an answer may take before its absence is said: while there is a connection, and without one. */
const patience = () => (model.connection.name === 'connected' ? 3 * second : second)

/** The urgent entries that didn't go out: they wait for longer than a moment, or it is too late for them. */
const overdue = () => model.outbox
  .filter((entry) => isUrgent(nameOf(entry)))
  .filter((entry) => entry.state === 'refused' || (entry.state === 'waiting' && (entry.isStuck || entry.created < now() - patience())))
  .sort((left, right) => (nameOf(right) === 'RaiseAlert') - (nameOf(left) === 'RaiseAlert'))

export function banners() {
  const alarms = alarmsOf(model.replica, now())
  return h('div', { class: 'banners', key: 'banners' },
    overdue().map(notSent), alarms.slice(0, alarmsShown).map(alarm),
    alarms.length > alarmsShown && h('a', { key: 'more', class: 'banner critical', href: '/contacts' }, `${alarms.length - alarmsShown} more alarms`))
}

const alarmsShown = 3

function notSent(entry) {
  const { id, created, state, problem, isSent } = entry
  const name = nameOf(entry)
  const [what, meaning] = unsent[name] ?? answer
  if (state === 'refused') {
    return h('div', { key: `outbox-${id}`, class: 'banner critical', role: 'alert' }, iconOf('alert'),
      h('span', {}, h('strong', {}, problem.code === 'unknown' ? `${what} has no answer` : `${what} was NOT sent`), h('small', {}, problem.message)),
      h('span', { class: 'actions' }, button('OK', () => drop(id), { kind: 'small' })))
  }
  const takeBack = async () => {
    await drop(id)
    // It may have arrived: then its end does, too.
    if (name === 'RaiseAlert' && isSent) act('ClearAlert')
  }
  return h('div', { key: `outbox-${id}`, class: 'banner critical', role: 'alert' }, iconOf('alert'),
    h('span', {}, h('strong', {}, `${what} has NOT gone out`),
      h('small', {}, `${meaning} ${isSent ? `Trying since ${moment(created)}; no answer yet.` : `Waiting since ${moment(created)}.`}`)),
    h('span', { class: 'actions' },
      button('Don’t send', takeBack, { kind: 'small' }), button('Try now', () => tryNow(entry), { kind: 'small primary' })))
}

const alarm = ({ card, level }) =>
  h('div', { key: `alarm-${card.contact.account}-${level}`, class: 'banner critical', role: 'alert' }, iconOf('alert'),
    h('a', { href: `/contacts/${card.contact.account}` },
      h('strong', {}, `${personName(card.contact.account)} ${level === 'alert' ? 'raised an alert' : 'missed a check-in'}`),
      h('small', {}, statusText(card, level, now()))))

/** What the title begins with while there is an alarm, or something urgent that didn't go out. */
export function alarmTitle() {
  const waiting = overdue()
  if (waiting.length) return `(!) ${(unsent[nameOf(waiting[0])] ?? answer)[0]}: NOT sent · `
  const alarms = alarmsOf(model.replica, now())
  if (!alarms.length) return undefined
  if (alarms.length > 1) return `(!) ${alarms.length} alarms · `
  const [{ card, level }] = alarms
  return `(!) ${personName(card.contact.account)}: ${level === 'alert' ? 'alert' : 'missed'} · `
}
