/** A drill: all responders are told that it is one and no alarm, and one reads whom it reached. */
import { h } from '../core/view.js'
import { changed, model } from '../core/model.js'
import { ago, day, moment, now, span } from '../core/time.js'
import { act, attempt, underway } from '../core/actions.js'
import { read } from '../net/api.js'
import { isUnread } from '../state/notifications.js'
import { confirm } from './dialogs.js'
import { personName } from './names.js'
import { button, refusal } from './pieces.js'
import { isOutOfReach, responderNames } from './reach.js'

const form = 'drill'
/** Until when another one is too soon, and after how long one is proposed. */
const [pause, proposal] = [day, 30 * day]

/** What was last read of whom a drill reached. */
let report

/** What runs a drill, or says how the newest went. Nobody tries anything out while they may need help. */
export function drillCard({ drill, alertRaised, checkIn }) {
  if (model.isKept || isOutOfReach() || alertRaised || checkIn.missed) return undefined
  const isOn = drill && !drill.ended
  const mayRun = !isOn && !(drill && drill.began + pause > now())
  return h('section', { class: 'card drill', 'aria-labelledby': 'drill-title' },
    h('h2', { id: 'drill-title' }, isOn ? 'A drill is on' : 'Whom would an alarm reach?'),
    h('p', { class: 'hint' }, words(drill)),
    drill && receipts(drill),
    h('div', { class: 'actions' },
      mayRun && button('Run a drill', run, { disabled: Boolean(underway('RunDrill')) }),
      drill && button(report?.drill.id === drill.id ? 'Look again' : 'Look whom it reached', look, { kind: mayRun ? 'link' : '' })),
    refusal(form))
}

function words(drill) {
  if (!drill) return 'You haven’t tried it out yet. In a drill all who look after you are told that it is one, and you see whom it reached.'
  if (!drill.ended) return `All who look after you are told that it is one and no alarm. It is over at ${moment(drill.ends)}, or when an alarm begins.`
  const last = `Your last drill was ${ago(drill.began)}${drill.end === 'alarm' ? '; an alarm ended it' : ''}.`
  return drill.began + proposal > now() ? last : `${last} Try it out again.`
}

async function run() {
  const isSure = await confirm({
    title: 'Run a drill?', action: 'Run the drill', kind: 'primary',
    text: () => `${responderNames()} and nobody else get a message that says first of all that it is a drill and no alarm. They needn’t do anything. You see who got it on what and how soon, who opened it, and who gave no sign. At most once a day.`,
  })
  if (isSure) act('RunDrill', {}, 'They are told', form)
}

const look = () => attempt(async () => {
  const { account } = model.account
  const found = await read('/v1/drill')
  report = { ...found, of: account }
  changed()
}, undefined, { at: form, isKept: false })

function receipts({ id, began }) {
  if (report?.drill.id !== id || report.of !== model.account?.account) return undefined
  return h('ul', { class: 'plain' }, report.responders.map((one) =>
    h('li', { key: one.account, class: 'line' }, h('span', {}, h('strong', {}, personName(one.account)), h('small', {}, receiptWords(one, began))))))
}

const devices = { ios: 'an iPhone or iPad', android: 'an Android device', web: 'a browser' }

function receiptWords({ notified, pushes, shown, read: opened }, began) {
  if (notified === undefined) return 'wasn’t told'
  const after = (time) => `after ${span(Math.max(0, time - began))}`
  const pushed = pushes.length > 0 && `pushed to ${pushes.map(({ platform }) => devices[platform] ?? 'another device').join(', ')} ${after(pushes[0].taken)}`
  const signs = [shown && `shown ${after(shown)}`, opened && `opened ${after(opened)}`].filter(Boolean)
  return [`told ${after(notified)}`, pushed, ...(signs.length ? signs : ['no sign yet'])].filter(Boolean).join(' · ')
}

/** The drills of those whom one looks after, as long as they are on and nobody has read of them. */
export const drillsOf = ({ notifications }) =>
  (notifications?.notifications ?? []).filter((one) => one.details?.drillEnds > now() && isUnread(one))

/** One of these. Marking it as read is the sign that it came through. */
export const drillLine = (one) => h('li', { key: one.id, class: 'line', 'data-shows': one.id },
  h('span', {}, h('strong', {}, `Drill, no alarm: ${personName(one.subject)}`), h('small', {}, 'They try out whether you would hear of an alarm, and see that you got this.')),
  button('I got it', () => act('MarkRead', { id: one.id }, 'They see it'), { kind: 'small' }))
