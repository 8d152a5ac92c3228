/** A drill: all responders are told that it is one and no alarm, and one reads who said that they got it. */
import { h } from '../core/view.js'
import { t } from '../core/language.js'
import { changed, model } from '../core/model.js'
import { ago, day, moment, now, span } from '../core/time.js'
import { act, attempt, underway } from '../core/actions.js'
import { read } from '../net/api.js'
import { confirm } from './dialogs.js'
import { personName } from './names.js'
import { button, refusal } from './pieces.js'
import { isOutOfReach, responderNames } from './reach.js'

const form = 'drill'
/** Until when another one is too soon, for how long one is reported, after how long one is proposed, and how many there may be by then. */
const [pause, reported, proposal, most] = [day, 7 * day, 30 * day, 4]

/** When another one may be run. */
const next = ({ began, earlier = [] }) => Math.max(began + pause, earlier.length < most - 1 ? 0 : earlier.at(1 - most) + proposal)

/** What was last read of who got a drill. */
let report

/** What runs a drill, or says how the newest went. Nobody tries anything out while they may need help. */
export function drillCard({ drill, alertRaised, checkIn }) {
  if (model.isKept || isOutOfReach() || alertRaised || checkIn.missed) return undefined
  const isOn = drill && !drill.ended
  const mayRun = !isOn && !(drill && next(drill) > now())
  return h('section', { class: 'card drill', 'aria-labelledby': 'drill-title' },
    h('h2', { id: 'drill-title' }, isOn ? t`A drill is on` : t`Would an alarm reach them?`),
    h('p', { class: 'hint' }, words(drill)),
    drill && receipts(drill),
    h('div', { class: 'actions' },
      mayRun && button(t`Run a drill`, run, { disabled: Boolean(underway('RunDrill')) }),
      drill && drill.began + reported > now() && button(report?.drill.id === drill.id ? t`Look again` : t`See who got it`, look, { kind: mayRun ? 'link' : '' })),
    refusal(form))
}

function words(drill) {
  if (!drill) return t`You haven’t tried it yet. In a drill, everybody who looks after you is told that it is one, and you see who says that they got it.`
  if (!drill.ended) return t`All who look after you are told that it is one and no alarm. It is over at ${moment(drill.ends)}, or when a deadline of yours passes or an alarm begins.`
  const last = lastWords(drill.end, ago(drill.began))
  return drill.began + proposal > now() ? last : `${last} ${t`Try it again.`}`
}

function lastWords(end, time) {
  if (end === 'alarm') return t`Your last drill was ${time}; an alarm ended it.`
  return end === 'deadline' ? t`Your last drill was ${time}; a deadline of yours ended it.` : t`Your last drill was ${time}.`
}

async function run() {
  const isSure = await confirm({
    title: t`Run a drill?`, action: t`Run the drill`, kind: 'primary',
    text: () => [
      t`${responderNames()} and nobody else get a message that says first of all that it is a drill and no alarm. They needn’t do anything; you see who says that they got it, and how soon.`,
      model.replica.contacts.responderReach === 'nobody' ? t`None of them hears of missed check-ins: it tests your alerts alone.`
        : t`It tests your alerts: whether they hear of missed check-ins, too, is their choice.`,
      t`At most once a day, and four times in 30 days.`,
    ].join(' '),
  })
  if (isSure) act('RunDrill', {}, t`The drill has begun`, form)
}

const look = () => attempt(async () => {
  const { account } = model.account
  const found = await read('/v1/drill')
  report = { ...found, of: account }
  changed()
}, undefined, { at: form, isKept: false })

/** As it was when one looked: whoever wasn’t notified by then may have been since. */
function receipts({ id, began }) {
  if (report?.drill.id !== id || report.of !== model.account?.account) return undefined
  return h('ul', { class: 'plain' }, report.responders.map((one) =>
    h('li', { key: one.account, class: 'line' }, h('span', {}, h('strong', {}, personName(one.account)), h('small', {}, receiptWords(one, began, !report.drill.ended))))))
}

/** Whether a device took it isn't known, nor what they did with it unless they say so. */
function receiptWords({ notified, answered }, began, isOn) {
  if (notified === undefined) return isOn ? t`not ready for them yet` : t`weren’t notified`
  const after = (time) => span(Math.max(0, time - began))
  return [t`ready for them after ${after(notified)}`, answered ? t`got it after ${after(answered)}, they say` : isOn ? t`no answer yet` : t`no answer`].join(' · ')
}

/** Whether it is of another's drill that is on, and waits for an answer. */
export const isOpenDrill = ({ cleared, answered, details }) =>
  details?.drillEnds > now() && !details.isOwnDrill && cleared === undefined && answered === undefined

/** The drills of those whom one looks after that wait for an answer. */
export const drillsOf = ({ notifications }) => (notifications?.notifications ?? []).filter(isOpenDrill)

/** Says so to the drill's person, and nothing else does. */
export const gotIt = (one) => button(t`I got it`, () => act('AnswerDrill', { id: one.id }, t`They see it`), { kind: 'small' })

export const drillLine = (one) => h('li', { key: one.id, class: 'line' },
  h('span', {}, h('strong', {}, t`Drill, no alarm: ${personName(one.subject)}`), h('small', {}, t`They are testing whether an alarm would reach you. If you say so, they see that you got this, and when.`)),
  gotIt(one))
