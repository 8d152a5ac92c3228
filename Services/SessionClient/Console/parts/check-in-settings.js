/** How often to check in, when to be reminded, and when others hear that one was missed. */
import { h, steady } from '../core/view.js'
import { model } from '../core/model.js'
import { day, hour, minute, moment, now, span } from '../core/time.js'
import { act } from '../core/actions.js'
import { movedTo, respondersOf } from '../state/alarms.js'
import { confirm } from './dialogs.js'
import { personName } from './names.js'
import { button, toggle } from './pieces.js'
import { responderNames } from './reach.js'

const intervals = [[hour, '1 hour'], [4 * hour, '4 hours'], [8 * hour, '8 hours'], [12 * hour, '12 hours'], [day, '1 day'], [2 * day, '2 days'], [7 * day, '1 week']]
const leads = [['twoHours', '2 hours before', 2 * hour], ['thirtyMinutes', '30 minutes before', 30 * minute]]

export function intervalChoice() {
  const { interval } = model.replica.account.checkIn
  const options = intervals.some(([length]) => length === interval) ? intervals : [[interval, span(interval)], ...intervals]
  return h('div', { class: 'field' },
    h('label', { for: 'interval' }, 'Check in every'),
    h('select', { id: 'interval', value: String(interval), onchange: (event) => act('SetCheckInInterval', { interval: Number(event.target.value) }, 'Interval changed', 'interval') },
      options.map(([length, title]) => h('option', { key: length, value: String(length) }, title))))
}

const graces = [[0, 'At once'], [5 * minute, '5 minutes later'], [10 * minute, '10 minutes later'], [15 * minute, '15 minutes later'], [30 * minute, '30 minutes later'], [hour, '1 hour later']]

export function graceChoice() {
  const grace = model.replica.account.checkIn.grace ?? 0
  const options = graces.some(([length]) => length === grace) ? graces : [...graces, [grace, `${span(grace)} later`]]
  return h('div', { class: 'field' },
    h('label', { for: 'grace' }, 'If I miss one, others hear'),
    h('select', { id: 'grace', 'aria-describedby': 'grace-hint', value: String(grace), onchange: (event) => act('SetCheckInGrace', { grace: Number(event.target.value) }, 'Changed', 'grace') },
      options.map(([length, title]) => h('option', { key: length, value: String(length) }, title))),
    h('p', { id: 'grace-hint', class: 'hint' }, 'You are told first, as loud as of an alarm. It counts from the next deadline on.'))
}

const delays = [[0, 'with the first'], ...[5, 10, 15, 20, 30, 45, 60].map((count) => [count * minute, `${count} minutes later`])]

/** Which responders hear later than others; with one there is nothing to choose. */
export function tierChoice() {
  const { contacts } = model.replica
  const responders = respondersOf({ contacts })
  if (!(responders?.length > 1)) return undefined
  // What was chosen a moment ago counts, though nothing has come of it yet.
  const chosen = model.outbox.findLast(({ path, state }) => path.endsWith('/SetResponderTiers') && state !== 'refused')
  const tiers = chosen?.fields.tiers ?? contacts.responderTiers ?? []
  const delayOf = new Map(tiers.flatMap(({ after, responders: members }) => members.map((account) => [account, after])))
  const field = ({ account }) => {
    const after = delayOf.get(account) ?? 0
    const options = delays.some(([length]) => length === after) ? delays : [...delays, [after, `${span(after)} later`]]
    const change = (event) => act('SetResponderTiers', { tiers: movedTo(Number(event.target.value), account, tiers) }, 'Changed', 'tiers')
    return h('div', { class: 'field', key: account },
      h('label', { for: `tier-${account}` }, `${personName(account)} hears`),
      h('select', { id: `tier-${account}`, value: String(after), onchange: change },
        options.map(([length, title]) => h('option', { key: length, value: String(length) }, title))))
  }
  return steady('fieldset', { 'aria-describedby': 'tiers-hint' }, [contacts, chosen, model.replica.people], () => [h('legend', {}, 'Who hears first of a missed check-in'), responders.map(field),
    h('p', { id: 'tiers-hint', class: 'hint' }, 'Those who hear later wait while somebody is on it, four hours at most, and hear at once if nobody before them can help. Everybody hears of an alert at once.')])
}

const pauses = [[day, '1 day'], [2 * day, '2 days'], [3 * day, '3 days'], [7 * day, '1 week'], [14 * day, '2 weeks'], [30 * day, '30 days']]

export function pauseChoice() {
  const { pausedUntil, missed, due, interval, grace } = model.replica.account.checkIn
  const isPaused = pausedUntil > now()
  const pause = async (event) => {
    const until = now() + Number(event.target.value)
    event.target.value = ''
    const isSure = await confirm({
      title: 'Pause check-ins?', action: 'Pause', kind: 'primary',
      text: () => `No check-in is due before ${moment(until + interval)}, and nobody hears before ${moment(until + interval + (grace ?? 0))} if you don’t check in. ${responderNames() ? `${responderNames()} ${respondersOf(model.replica).length === 1 ? 'is' : 'are'} told of the pause.` : ''}`,
    })
    if (isSure) act('PauseCheckIns', { until }, 'Paused', 'pause')
  }
  return h('div', { class: 'field' },
    isPaused && h('p', {}, `Paused until ${moment(pausedUntil)}. The first check-in is due by ${moment(due)}. `,
      button('End the pause', () => act('ResumeCheckIns', {}, 'The pause is over', 'pause'), { kind: 'small' })),
    h('label', { for: 'pause' }, isPaused ? 'Instead, pause from now on for' : 'Pause for'),
    h('select', { id: 'pause', value: '', disabled: missed || due <= now(), onchange: pause },
      h('option', { value: '' }, isPaused ? 'Choose' : 'Not paused'), pauses.map(([length, title]) => h('option', { key: length, value: String(length) }, title))))
}

export function reminderChoice() {
  const { interval, reminders } = model.replica.account.checkIn
  const set = (lead, isOn) => act('SetCheckInReminders', {
    reminders: leads.map(([name]) => name).filter((name) => (name === lead ? isOn : reminders.includes(name))),
  }, undefined, 'reminders')
  return h('fieldset', {}, h('legend', {}, 'Remind me'),
    leads.map(([lead, title, time]) => toggle(title, time < interval && reminders.includes(lead), (isOn) => set(lead, isOn),
      time < interval ? {} : { disabled: true, hint: `You check in every ${span(interval)}, so there is nothing to remind you of` })))
}
