/** `/ops/told`: was she told? For each alarm who was notified, pushed to, shown it and read it, and how late. */
import { h } from '../../core/view.js'
import { waiting } from '../../parts/pieces.js'
import { watch } from '../feed.js'
import { ask } from '../key.js'
import { card, clock, late, panel, second, sqlOf, trouble } from '../pieces.js'

export const alarms = () => [
  h('h1', {}, 'Was she told?'),
  panel('The newest alarms', 'recent_alarms', {
    none: 'There was no alarm yet.',
    cells: {
      alarm: (id) => h('a', { href: `/ops/told/${id}` }, `${id.slice(0, 13)}…`),
      slowest_ms: (ms) => late(ms === null ? null : Number(ms)),
    },
  }),
]

export function told({ alarm }) {
  const { value, problem } = watch(`told ${alarm}`, () => ask('GET', `told/${alarm}`), 3 * second)
  return [
    h('h1', {}, 'Was she told?'),
    problem ? trouble(problem) : value ? answer(value) : waiting(),
  ]
}

const name = ({ handle, account }) => (handle ? `@${handle}` : `account ${account.slice(0, 8)}…`)
const kinds = { missedCheckIn: 'missed the check-in', alert: 'raised an alert' }

/** What somebody was told of the alarm itself: its all-clear helps nobody who never heard of it. */
const alarmsOf = (one) => one.notifications.filter(({ kind }) => kind === 'dependentAlertRaised' || kind === 'dependentCheckInMissed')

function answer(document) {
  const { person, due, graceEnded, noticed, noticedMs, event, recipients } = document
  const responders = recipients.filter((one) => !one.isPerson)
  const reached = responders.filter((one) => alarmsOf(one).length)
  return [
    h('section', { class: 'card', 'aria-label': 'The alarm' },
      h('div', { class: 'title-line' }, h('h2', {}, `${name(person)} ${kinds[document.kind]}`), sqlOf('told_json')),
      h('p', { class: `verdict ${reached.length === responders.length && responders.length ? 'good' : 'critical'}` }, verdict(responders, reached)),
      h('dl', { class: 'facts' },
        due && fact('Due', clock(due), graceEnded && `, with a grace until ${clock(graceEnded)}`),
        fact(due ? 'Noticed' : 'Raised', clock(noticed), due && `, ${late(noticedMs)} later`),
        event && fact('In the log', place(event)))),
    ...recipients.map((one) => recipient(one)),
    h('details', { class: 'card' }, h('summary', {}, h('h2', {}, 'As JSON')),
      h('p', { class: 'hint' }, `GET /v1/operator/told/${document.alarm}`),
      h('pre', { tabindex: '0' }, JSON.stringify(document, null, 2))),
  ]
}

function verdict(responders, reached) {
  if (!responders.length) return 'Nobody looks after this person, so nobody was told.'
  const read = reached.filter((one) => alarmsOf(one).some((each) => each.read))
  const people = (number) => `${number} of ${responders.length} ${responders.length === 1 ? 'responder' : 'responders'}`
  return `${people(reached.length)} notified, ${people(read.length)} read it.`
}

const fact = (term, ...values) => h('div', { key: term }, h('dt', {}, term), h('dd', {}, values))
const place = ({ log, partition, position, recorded }) =>
  h('span', {}, h('code', {}, `${log} ${partition}:${position}`), recorded && h('small', {}, 'recorded ', clock(recorded)))

const titles = {
  checkInMissed: 'You missed your check-in', dependentCheckInMissed: 'Missed check-in', dependentAlertRaised: 'Alert',
  alertRaised: 'Your alert is on', dependentAlertCleared: 'The alert is over', alertCleared: 'You ended your alert',
  dependentCheckedInLate: 'All clear', dependentAlarmEnded: 'No longer told',
}

const recipient = ({ account, handle, isPerson, notifications }) =>
  card(`${name({ account, handle })}${isPerson ? ', who it is about' : ''}`, undefined,
    !isPerson && !alarmsOf({ notifications }).length && h('p', { class: 'notice critical' }, 'Was to be told of the alarm, and no notification of it is there.'),
    notifications.length > 0 && h('ol', { class: 'plain' }, notifications.map(delivery)))

function delivery({ id, kind, repetition, notified, notifiedMs, pushes, shown, read, readMs, event }) {
  const step = (title, text, tone) => h('li', { class: tone }, h('strong', {}, title), text)
  return h('li', { key: id, class: 'delivery' },
    h('h3', {}, titles[kind] ?? kind, repetition ? ` (reminder ${repetition})` : ''),
    h('ol', { class: 'receipts' },
      step('Notified', [h('span', {}, late(notifiedMs), ' after'), clock(notified), event && place(event)], 'good'),
      pushes.map((push) => step(`Pushed, attempt ${push.attempt}`,
        [h('span', {}, late(push.afterMs), ' after'), h('span', {}, `${push.result}: ${push.answer}, to ${push.platform ?? 'a device'} ${push.device.slice(0, 8)}…`)],
        push.result === 'done' ? 'good' : 'critical')),
      !pushes.length && step('Pushed', h('span', {}, 'no device takes pushes'), 'none'),
      shown.map((one) => step('Shown', [h('span', {}, late(one.afterMs), ' after'), h('span', {}, `on device ${one.device.slice(0, 8)}…`), clock(one.shown)], 'good')),
      !shown.length && step('Shown', h('span', {}, 'no app said so'), 'none'),
      read ? step('Read', [h('span', {}, late(readMs), ' after'), clock(read)], 'good') : step('Read', h('span', {}, 'not yet'), 'none')))
}
