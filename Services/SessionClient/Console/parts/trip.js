/** A trip: a time by which one has arrived, or an alert is raised. */
import { h } from '../core/view.js'
import { t } from '../core/language.js'
import { model } from '../core/model.js'
import { hour, minute, moment, now, second, span } from '../core/time.js'
import { act, underway } from '../core/actions.js'
import { draft, setDraft, takeDraft } from '../core/drafts.js'
import { problemOf } from '../core/problems.js'
import { button, field, refusal, refusals } from './pieces.js'
import { confirm } from './dialogs.js'
import { isOutOfReach, responderNames, warning } from './reach.js'

const form = 'trip'
const lengths = [30 * minute, hour, 2 * hour, 4 * hour, 8 * hour, 24 * hour]
const graces = [0, 5 * minute, 10 * minute, 15 * minute, 30 * minute, hour]

/** The trip that is on, or what starts one. On a kept page one can still say that one has arrived, since that names the trip. */
export function tripCard({ trip }) {
  if (trip) return running(trip)
  return model.isKept ? undefined : h('section', { key: 'trip', class: 'card trip', 'aria-label': t`Trip` },
    h('details', {}, h('summary', {}, t`Going somewhere? Have an alert raised if you don’t arrive`), starting()), refusal(form))
}

/** Who would hear of the alert, in a sentence. */
const hearers = () => (isOutOfReach() ? t`Nobody looks after you, so nobody would be told.` : (warning(false) ?? t`It is sent to ${responderNames() || t`your responders`}.`))

const missedWords = ({ isCalled }) => (isCalled ? t`You haven’t said that you arrived. You called for help, too: the end of your alert ends the trip.`
  : t`You haven’t said that you arrived: an alert is on. It ends when you say so.`)

function running(trip) {
  const hear = trip.graceEnds ?? trip.eta + (trip.grace ?? 0)
  const left = trip.eta - now()
  const said = underway('EndTrip', { trip: trip.id })
  // What was pressed before the alert, which this page may not know of, doesn't end it: it can be said again.
  const isJustSaid = Boolean(said) && (said.state === 'done' || said.fields.pressed > now() - 5 * second)
  const isChanging = Boolean(said ?? underway('ExtendTrip', { trip: trip.id }))
  const end = (how, done) => act('EndTrip', { trip: trip.id, end: how, pressed: now() }, done, form)
  const cancel = async () => {
    if (await confirm({ title: t`Cancel the trip?`, action: t`Cancel the trip`, text: t`Then no alert is raised if you don’t arrive.` })) end('cancelled', t`The trip is over`)
  }
  const extend = (length) => act('ExtendTrip', { trip: trip.id, eta: Math.max(trip.eta, now()) + length }, t`The trip has another end`, form)
  return h('section', { key: 'trip', class: 'card trip', 'aria-labelledby': 'trip-title', 'data-shows': trip.graceEnds && 'checkInMissed' },
    h('h2', { id: 'trip-title' }, trip.name),
    trip.alarm ? h('p', { class: 'notice critical' }, missedWords(trip))
      : h('p', { role: 'timer' }, h('strong', {}, left > 0 ? t`${span(left)} left` : t`The time has passed`), ` (${moment(trip.eta)})`),
    !trip.alarm && h('p', { class: 'hint' }, t`If you don’t say that you have arrived by ${moment(hear)}, an alert is raised then.`, ` ${hearers()}`),
    trip.note && h('p', { class: 'note' }, trip.note),
    !trip.isCalled && button(t`I have arrived`, () => end('arrived', t`Good that you arrived`), { kind: 'primary huge', disabled: isJustSaid, key: 'arrived' }),
    h('div', { class: 'actions' },
      !trip.alarm && !model.isKept && [[15 * minute, '15 min'], [30 * minute, '30 min'], [hour, '1 h']].map(([length, title]) =>
        button(`+ ${title}`, () => extend(length), { key: title, kind: 'small', disabled: isChanging })),
      !trip.alarm && !model.isKept && button(t`Cancel the trip`, cancel, { kind: 'link', disabled: Boolean(said) })),
    refusal(form))
}

function starting() {
  const { name = '', note = '', length = String(hour), grace = '0' } = draft(form)
  const hear = now() + Number(length) + Number(grace)
  const start = async (event) => {
    event.preventDefault()
    const fields = { name, eta: now() + Number(length), ...(note && { note }), ...(grace !== '0' && { grace: Number(grace) }) }
    const dropSent = takeDraft(form)
    if (await act('StartTrip', fields, t`The trip has begun`, form)) dropSent()
  }
  const set = (field) => (event) => setDraft(form, { [field]: event.target.value })
  const { at } = refusals(problemOf(form))
  const entry = underway('StartTrip')
  return h('form', { onsubmit: start, 'aria-label': t`Start a trip` },
    field(t`Where to`, { id: 'trip-name', required: true, maxlength: 60, value: name, oninput: set('name') }, { problem: at('name') }),
    field(t`Note`, { id: 'trip-note', tag: 'textarea', rows: 2, maxlength: 500, value: note, oninput: set('note') },
      { hint: t`Nobody sees it before the alert. While that is on, all who look after you do, and where you went to.`, problem: at('note') }),
    h('div', { class: 'field' }, h('label', { for: 'trip-length' }, t`I arrive within`),
      h('select', { id: 'trip-length', value: length, onchange: set('length') }, lengths.map((time) => h('option', { key: time, value: String(time) }, span(time))))),
    h('div', { class: 'field' }, h('label', { for: 'trip-grace' }, t`If I don’t, the alert is raised`),
      h('select', { id: 'trip-grace', value: grace, onchange: set('grace') }, graces.map((time) => h('option', { key: time, value: String(time) }, time ? t`${span(time)} later` : t`At once`)))),
    h('p', { class: 'hint' }, t`If you start now, an alert is raised at ${moment(hear)}, unless you say before that you have arrived.`, ` ${hearers()}`),
    h('div', { class: 'actions' }, h('button', { class: 'button primary', disabled: Boolean(entry) }, entry ? t`Sending…` : t`Start the trip`)))
}
