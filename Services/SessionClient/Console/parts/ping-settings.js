/** After how long an unanswered ping raises an alert: of everybody, of one responder, and when none does. */
import { h } from '../core/view.js'
import { t } from '../core/language.js'
import { changed, model } from '../core/model.js'
import { problemOf } from '../core/problems.js'
import { day, hour, minute, moment, now, second, span } from '../core/time.js'
import { act } from '../core/actions.js'
import { respondersOf } from '../state/alarms.js'
import { personName } from './names.js'
import { refusal, toggle } from './pieces.js'
import { listed } from './reach.js'

const times = [15 * minute, 30 * minute, hour, 2 * hour, 4 * hour, 8 * hour, 12 * hour, day]
const place = 'ping-escalation'

const title = (after) => (after ? t`after ${span(after)}` : t`never`)
/** The times; one that is chosen by another app is among them. */
const offered = (present) => [...new Set([0, ...times, present ?? 0])].sort((left, right) => left - right)
  .map((after) => h('option', { key: after, value: String(after) }, title(after)))

/** For all for whom nothing else is chosen. Undefined without a responder. */
export function pingEscalationChoice() {
  const { contacts } = model.replica
  const responders = respondersOf({ contacts }) ?? []
  if (!responders.length) return undefined
  const { after = 0, quietHours } = contacts.pingEscalation ?? {}
  // Also of those who added the person by a code, until something is chosen for them.
  const never = responders.filter(({ pingEscalation }) => pingEscalation === 0).map(({ account }) => personName(account))
  return [
    h('div', { class: 'field' },
      h('label', { for: 'ping-escalation' }, t`If I don’t answer a ping, an alert is raised`),
      h('select', { id: 'ping-escalation', 'aria-describedby': 'ping-escalation-hint', value: String(after), onchange: (event) => act('SetPingEscalation', { after: Number(event.target.value) }, t`Changed`, place) }, offered(after)),
      h('p', { id: 'ping-escalation-hint', class: 'hint' }, t`You are warned five minutes before, as loud as of an alarm. It counts for pings that come from now on; for each responder you can choose another time on their page.`),
      after > 0 && never.length > 0 && h('p', { class: 'hint' }, t`Never for ${listed(never)}: on their page you can choose a time.`)),
    quietChoice(quietHours),
  ]
}

/** The minute of the day in UTC as the device's clock has it today. */
const local = (minutes) => new Date(new Date().setUTCHours(0, minutes, 0, 0))
const shown = (minutes) => { const time = local(minutes); return `${String(time.getHours()).padStart(2, '0')}:${String(time.getMinutes()).padStart(2, '0')}` }
const stored = (text) => {
  const [hours, minutes] = text.split(':').map(Number)
  const time = new Date(new Date().setHours(hours, minutes, 0, 0))
  return time.getUTCHours() * 60 + time.getUTCMinutes()
}
const usual = { from: '22:00', to: '07:00' }

/** What was typed and isn't kept: it is being sent, or was refused. */
let typed

function quietChoice(quietHours) {
  if (typed && !typed.isSending && !problemOf(place)) typed = undefined
  const set = (hours) => act('SetPingQuietHours', hours ? { quietHours: hours } : {}, t`Changed`, place)
  const turn = (isOn) => {
    typed = undefined
    set(isOn ? { from: stored(usual.from), to: stored(usual.to) } : undefined)
  }
  // Both at once: what is refused of one may be right with what is typed into the other next.
  const change = async (end, value) => {
    if (!value) return
    const mine = { from: shown(quietHours.from), to: shown(quietHours.to), ...typed, [end]: value, isSending: true }
    typed = mine
    await set({ from: stored(mine.from), to: stored(mine.to) })
    mine.isSending = false
    changed()
  }
  const time = (end, label) => h('div', { class: 'field', key: end },
    h('label', { for: `quiet-${end}` }, label),
    h('input', { id: `quiet-${end}`, type: 'time', required: true, value: typed?.[end] ?? shown(quietHours[end]), onchange: (event) => change(end, event.target.value) }))
  return h('fieldset', { 'aria-describedby': 'quiet-hint' }, h('legend', {}, t`Quiet hours`),
    toggle(t`In these hours no unanswered ping raises an alert`, Boolean(quietHours), turn, { id: 'quiet' }),
    quietHours && [time('from', t`From`), time('to', t`To`)],
    h('p', { id: 'quiet-hint', class: 'hint' }, t`You are warned when they end, and have half an hour, or less if you chose less. When the clocks change, look at them again.`))
}

/** Of one responder. */
export function pingEscalationOf(one) {
  const all = title(model.replica.contacts.pingEscalation?.after ?? 0)
  const change = (event) => act('SetPingEscalation', { contact: one.account, ...(event.target.value === '' ? {} : { after: Number(event.target.value) }) }, t`Changed`, 'roles')
  return h('div', { class: 'field' },
    h('label', { for: 'ping-escalation-one' }, t`If I don’t answer, an alert is raised`),
    h('select', { id: 'ping-escalation-one', value: one.pingEscalation === undefined ? '' : String(one.pingEscalation), onchange: change },
      h('option', { key: 'all', value: '' }, t`as for all: ${all}`), offered(one.pingEscalation)))
}

/** When a ping raises an alert, on the side of who asked. */
export const pingDueWords = ({ outgoingPingDue: due, isOutgoingPingLater }) => (due > now() ? t`If they don’t answer by ${moment(due)}, an alert is raised.`
  : isOutgoingPingLater ? t`If they don’t answer, an alert is raised later.` : undefined)

/** Nothing comes of a ping that is sent so soon after another. */
const pingPause = 10 * second
/** Whether a ping waits of which no alert comes any more: then another may be sent in its place. Not just after it, whichever clock is ahead. */
export const canAskAgain = ({ iAmResponder, outgoingPing, isOutgoingPingOver }) => Boolean(iAmResponder && outgoingPing && isOutgoingPingOver && Math.abs(now() - outgoingPing) >= pingPause)

/** Refusals that are seen also when the choices are folded away. */
export const pingEscalationRefusal = () => refusal(place)
