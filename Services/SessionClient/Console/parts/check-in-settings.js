/** How often to check in, when to be reminded, and when others hear that one was missed. */
import { h, steady } from '../core/view.js'
import { plural, t } from '../core/language.js'
import { model } from '../core/model.js'
import { day, hour, minute, moment, now, span } from '../core/time.js'
import { act, checkInVersion, versionFor } from '../core/actions.js'
import { movedTo, respondersOf } from '../state/alarms.js'
import { shortestWindow } from './daily-times.js'
import { confirm } from './dialogs.js'
import { personName } from './names.js'
import { button, toggle } from './pieces.js'
import { responderNames } from './reach.js'

const intervals = [hour, 4 * hour, 8 * hour, 12 * hour, day, 2 * day, 7 * day]
const leads = [['twoHours', 2 * hour], ['thirtyMinutes', 30 * minute]]

/** The choices of a length of time, as `title` has it; the present one is among them. */
const lengths = (offered, present, title) => (offered.includes(present) ? offered : [...offered, present].sort((left, right) => left - right))
  .map((length) => h('option', { key: length, value: String(length) }, title(length)))

export function intervalChoice() {
  const { interval, daily } = model.replica.account.checkIn
  return h('div', { class: 'field' },
    h('label', { for: 'interval' }, t`Check in every`),
    h('select', { id: 'interval', value: daily ? '' : String(interval), onchange: (event) => act('SetCheckInInterval', { interval: Number(event.target.value), expectedVersion: checkInVersion() }, t`Interval changed`, 'interval') },
      daily && h('option', { key: 'daily', value: '' }, t`At times of the day`), lengths(intervals, interval, span)))
}

const graces = [0, 5 * minute, 10 * minute, 15 * minute, 30 * minute, hour]

export function graceChoice() {
  const grace = model.replica.account.checkIn.grace ?? 0
  return h('div', { class: 'field' },
    h('label', { for: 'grace' }, t`If I miss one, others hear`),
    h('select', { id: 'grace', 'aria-describedby': 'grace-hint', value: String(grace), onchange: (event) => act('SetCheckInGrace', { grace: Number(event.target.value) }, t`Changed`, 'grace') },
      lengths(graces, grace, (length) => (length ? t`${span(length)} later` : t`At once`))),
    h('p', { id: 'grace-hint', class: 'hint' }, t`You are told first, as loud as of an alarm. It counts from the next deadline on.`))
}

const delays = [0, 5, 10, 15, 20, 30, 45, 60].map((count) => count * minute)

/** Which responders hear later than others; with one there is nothing to choose. */
export function tierChoice() {
  const { contacts } = model.replica
  const responders = respondersOf({ contacts })
  if (!(responders?.length > 1)) return undefined
  const expectedVersion = versionFor(contacts.responderTiersVersion, 'SetResponderTiers')
  // What was chosen a moment ago counts, though nothing has come of it yet; not if another device was quicker.
  const chosen = model.outbox.findLast(({ path, state, fields }) => path.endsWith('/SetResponderTiers') && state !== 'refused' && fields.expectedVersion === expectedVersion)
  const tiers = chosen?.fields.tiers ?? contacts.responderTiers ?? []
  const delayOf = new Map(tiers.flatMap(({ after, responders: members }) => members.map((account) => [account, after])))
  const field = ({ account }) => {
    const after = delayOf.get(account) ?? 0
    const change = (event) => act('SetResponderTiers', { tiers: movedTo(Number(event.target.value), account, tiers), expectedVersion }, t`Changed`, 'tiers')
    return h('div', { class: 'field', key: account },
      h('label', { for: `tier-${account}` }, t`${personName(account)} hears`),
      h('select', { id: `tier-${account}`, value: String(after), onchange: change },
        lengths(delays, after, (length) => (length ? t`${span(length)} later` : t`with the first`))))
  }
  return steady('fieldset', { 'aria-describedby': 'tiers-hint' }, [contacts, chosen, model.replica.people], () => [h('legend', {}, t`Who hears first of a missed check-in`), responders.map(field),
    h('p', { id: 'tiers-hint', class: 'hint' }, t`Those who hear later wait while somebody is on it, four hours at most, and hear at once if nobody before them can help. Everybody hears of an alert at once.`)])
}

const pauses = [day, 2 * day, 3 * day, 7 * day, 14 * day, 30 * day]

/** Who hears of a pause, after another sentence. */
function told() {
  const names = responderNames()
  return names && ` ${plural(respondersOf(model.replica).length, t`${names} is told of the pause.`, t`${names} are told of the pause.`)}`
}

export function pauseChoice() {
  const { pausedUntil, missed, due, interval, grace, daily } = model.replica.account.checkIn
  const isPaused = pausedUntil > now()
  const pause = async (event) => {
    const until = now() + Number(event.target.value)
    event.target.value = ''
    const isSure = await confirm({
      title: t`Pause check-ins?`, action: t`Pause`, kind: 'primary',
      text: () => (daily ? t`The first of your times after ${moment(until)} counts again.` : t`No check-in is due before ${moment(until + interval)}, and nobody hears before ${moment(until + interval + (grace ?? 0))} if you don’t check in.`) + (told() ?? ''),
    })
    if (isSure) act('PauseCheckIns', { until }, t`Paused`, 'pause')
  }
  return h('div', { class: 'field' },
    isPaused && h('p', {}, t`Paused until ${moment(pausedUntil)}. The first check-in is due by ${moment(due)}.`, ' ',
      button(t`End the pause`, () => act('ResumeCheckIns', {}, t`The pause is over`, 'pause'), { kind: 'small' })),
    h('label', { for: 'pause' }, isPaused ? t`Instead, pause from now on for` : t`Pause for`),
    h('select', { id: 'pause', value: '', disabled: missed || due <= now(), onchange: pause },
      h('option', { value: '' }, isPaused ? t`Choose` : t`Not paused`), lengths(pauses, day, span)))
}

export function reminderChoice() {
  const { interval, reminders, daily } = model.replica.account.checkIn
  const shortest = daily && shortestWindow(daily)
  const set = (lead, isOn) => act('SetCheckInReminders', {
    reminders: leads.map(([name]) => name).filter((name) => (name === lead ? isOn : reminders.includes(name))),
  }, undefined, 'reminders')
  return h('fieldset', {}, h('legend', {}, t`Remind me`),
    leads.map(([lead, time]) => toggle(t`${span(time)} before`, time < interval && reminders.includes(lead), (isOn) => set(lead, isOn),
      time < interval ? { hint: shortest < time && t`For some of your times there is none: a check-in doesn’t count that early` }
        : { disabled: true, hint: t`You check in every ${span(interval)}, so there is nothing to remind you of` })))
}
