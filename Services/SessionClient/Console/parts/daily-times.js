/** Check-ins at times of the day instead of an interval. */
import { h, steady } from '../core/view.js'
import { t } from '../core/language.js'
import { model } from '../core/model.js'
import { hour, minute, moment, now } from '../core/time.js'
import { act, checkInVersion, underway } from '../core/actions.js'
import { draft, dropDraft, setDraft, takeDraft } from '../core/drafts.js'
import { problemOf } from '../core/problems.js'
import { button, field, refusal, refusals, toggle } from './pieces.js'

const form = 'daily-times'
/** As many as a day may have. */
const most = 4
const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
const dayNames = { monday: () => t`Monday`, tuesday: () => t`Tuesday`, wednesday: () => t`Wednesday`, thursday: () => t`Thursday`, friday: () => t`Friday`, saturday: () => t`Saturday`, sunday: () => t`Sunday` }

/** A minute of the day as a field for times has it, and back. */
const written = (minute) => [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, '0')).join(':')
const minuteOf = (text) => text.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)

/** The device's zone: a proposal, of which nothing comes until the person says so. */
const ownZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'UTC'

/** Why a check-in counted for nothing, by its reply, in a sentence; undefined if it counted. What this tab knows may be older or newer. */
export function earlyWords(reply) {
  const { isEarly, due, opens } = reply?.event === 'CheckedIn' ? reply.result : {}
  return isEarly && opens ? t`Too early for ${moment(due)}: again from ${moment(opens)}` : undefined
}

/** The shortest time before one of them for which a check-in counts: no reminder comes earlier. */
export function shortestWindow({ times, weekdays: chosen }) {
  const week = 7 * 1440
  const all = chosen.flatMap((day) => times.map((time) => weekdays.indexOf(day) * 1440 + time)).sort((left, right) => left - right)
  const gaps = all.map((time, place) => (all[place + 1] ?? all[0] + week) - time)
  return Math.min(6 * hour, ...gaps.map((gap) => gap * minute / 2))
}

/** From when on a check-in counts. */
export function countsFrom({ due, opens, missed, graceEnds }) {
  return !missed && !graceEnds && opens > now() && due > now() && h('p', { class: 'hint' }, t`A check-in counts for ${moment(due)} from ${moment(opens)} on.`)
}

export function dailyChoice() {
  const { daily } = model.replica.account.checkIn
  const typed = draft(form)
  const times = typed.times ?? daily?.times.map(written) ?? ['09:00']
  const days = typed.weekdays ?? daily?.weekdays ?? weekdays
  const zone = typed.zone ?? daily?.zone ?? ownZone()
  // What is typed stands on the times that its person saw when they began.
  const seen = typed.seen ?? checkInVersion()
  const save = async (event) => {
    event.preventDefault()
    const fields = { times: times.filter(Boolean).map(minuteOf), weekdays: days, zone, expectedVersion: seen }
    const dropSent = takeDraft(form)
    // What waits for a network is known as one's own, too.
    if (await act('SetDailyCheckIns', fields, t`Changed`, form) || underway('SetDailyCheckIns')) dropSent()
    // The newer ones show, and what is typed next stands on them. After any other refusal, it stands on what it stood on.
    else if (problemOf(form)?.code === 'staleVersion') dropDraft(form)
  }
  const setTime = (place) => (event) => setDraft(form, { seen, times: times.map((time, index) => (index === place ? event.target.value : time)) })
  const setDay = (day) => (isOn) => setDraft(form, { seen, weekdays: weekdays.filter((one) => (one === day ? isOn : days.includes(one))) })
  const { at } = refusals(problemOf(form))
  const entry = underway('SetDailyCheckIns')
  return h('form', { id: 'daily-times', onsubmit: save, 'aria-label': t`Check in at times of the day` },
    h('fieldset', {}, h('legend', {}, daily ? t`You check in at these times` : t`Instead, check in at times of the day`),
      times.map((time, place) => field(t`Time ${place + 1}`, { id: `daily-${place}`, key: place, type: 'time', required: true, value: time, oninput: setTime(place) }, { problem: place === 0 && at('times') })),
      h('div', { class: 'actions' },
        times.length < most && button(t`Another time`, () => setDraft(form, { seen, times: [...times, ''] }), { kind: 'small' }),
        times.length > 1 && button(t`One time less`, () => setDraft(form, { seen, times: times.slice(0, -1) }), { kind: 'small' })),
      weekdays.map((day) => toggle(dayNames[day](), days.includes(day), setDay(day), { key: day, id: `daily-${day}` })),
      at('weekdays') && h('p', { class: 'problem', role: 'alert' }, at('weekdays')),
      field(t`By the clocks of`, { id: 'daily-zone', required: true, maxlength: 64, list: 'daily-zones', autocomplete: 'off', value: zone, oninput: (event) => setDraft(form, { seen, zone: event.target.value }) },
        { hint: daily && daily.zone !== ownZone() ? t`This device is set to ${ownZone()}. Your times stay in ${daily.zone} until you change that.` : t`A time zone, such as Europe/Berlin.`, problem: at('zone') }),
      steady('datalist', { id: 'daily-zones' }, [], () => (Intl.supportedValuesOf?.('timeZone') ?? []).map((name) => h('option', { key: name, value: name })))),
    h('p', { class: 'hint' }, t`A check-in counts from six hours before, or half the way from the time before. What is due within twelve hours stays when you change this.`),
    h('div', { class: 'actions' }, h('button', { type: 'submit', class: 'button', disabled: Boolean(entry) }, entry ? t`Sending…` : t`Check in at these times`)))
}

/** Seen also when the choices are folded away. */
export const dailyRefusal = () => refusal(form)
