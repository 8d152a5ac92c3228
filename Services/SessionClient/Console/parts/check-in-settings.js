/** How often to check in, when to be reminded, and when others hear that one was missed. */
import { h } from '../core/view.js'
import { model } from '../core/model.js'
import { day, hour, minute, span } from '../core/time.js'
import { act } from '../core/actions.js'
import { toggle } from './pieces.js'

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

export function reminderChoice() {
  const { interval, reminders } = model.replica.account.checkIn
  const set = (lead, isOn) => act('SetCheckInReminders', {
    reminders: leads.map(([name]) => name).filter((name) => (name === lead ? isOn : reminders.includes(name))),
  }, undefined, 'reminders')
  return h('fieldset', {}, h('legend', {}, 'Remind me'),
    leads.map(([lead, title, time]) => toggle(title, time < interval && reminders.includes(lead), (isOn) => set(lead, isOn),
      time < interval ? {} : { disabled: true, hint: `You check in every ${span(interval)}, so there is nothing to remind you of` })))
}
