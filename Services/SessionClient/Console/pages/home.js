/** `/`: checking in, the alert, and what waits for me. */
import { h } from '../core/view.js'
import { model } from '../core/model.js'
import { ago, moment, now } from '../core/time.js'
import { act, operate, underway } from '../core/actions.js'
import { isCritical, sentence } from '../core/words.js'
import { isUnread } from '../state/notifications.js'
import { levelOf, levels, statusText } from '../state/lists.js'
import { confirm } from '../parts/dialogs.js'
import { intervalChoice, reminderChoice } from '../parts/check-in-settings.js'
import { iconOf } from '../parts/icons.js'
import { personName } from '../parts/names.js'
import { badge, button, portrait, ring, waiting } from '../parts/pieces.js'
import { outbox } from '../parts/outbox-list.js'
import { requestCard, roleRequestCard } from '../parts/requests.js'

export function home() {
  const account = model.replica?.account
  if (!account) return waiting()
  return h('div', { class: 'columns' },
    h('div', {}, outbox(), alarm(account), checkIn(account)),
    waitingForMe())
}

function checkIn({ checkIn, name }) {
  const isSending = Boolean(underway('CheckIn'))
  return h('section', { class: 'card check-in', 'aria-labelledby': 'check-in-title' },
    h('h1', { id: 'check-in-title' }, name ? `Are you all right, ${name}?` : 'Are you all right?'),
    ring(checkIn, now()),
    button(isSending ? 'Sending…' : 'I’m all right', () => act('CheckIn', {}, 'Checked in'), { kind: 'primary huge', disabled: isSending }),
    h('p', { class: 'hint' }, checkIn.last ? `Last check-in ${ago(checkIn.last)}, ${moment(checkIn.last)}` : 'You haven’t checked in yet.'),
    h('details', {}, h('summary', {}, 'How often, and reminders'), intervalChoice(), reminderChoice()))
}

function alarm({ alertRaised }) {
  const raise = async () => {
    const responders = [...(model.replica.contacts?.contacts.values() ?? [])].filter((one) => one.isMyResponder).length
    const isSure = await confirm({
      title: 'Raise an alert?', action: 'Raise the alert',
      text: responders ? `${responders === 1 ? 'Your responder is' : `Your ${responders} responders are`} told at once.` : 'Nobody looks after you yet, so nobody would be told.',
    })
    if (isSure) act('RaiseAlert', {}, 'Your alert is on')
  }
  if (!alertRaised) {
    return h('section', { class: 'card alert-card', 'aria-label': 'Alert' },
      h('p', {}, 'Do you need help?'),
      button([iconOf('alert'), underway('RaiseAlert') ? 'Sending…' : 'Raise an alert'], raise, { kind: 'danger' }))
  }
  return h('section', { class: 'card alert-card is-on', 'aria-label': 'Alert', role: 'alert' },
    h('p', {}, h('strong', {}, 'Your alert is on'), h('br'), `since ${moment(alertRaised)}`),
    button(underway('ClearAlert') ? 'Sending…' : 'End the alert', () => act('ClearAlert', {}, 'Your responders got the all-clear')))
}

function waitingForMe() {
  const { contacts, people, notifications, groups } = model.replica
  const cards = [...(contacts?.contacts.values() ?? [])].map((contact) => ({ contact, person: people.get(contact.account) }))
  const time = now()
  const asking = cards.filter(({ contact }) => contact.incomingPing)
  const inTrouble = cards.map((card) => ({ card, level: levelOf(card, time) })).filter(({ level }) => levels[level].rank <= 2)
  const requests = [...(contacts?.requests.values() ?? [])].filter((one) => one.direction === 'incoming')
  const roles = cards.filter(({ contact }) => contact.incomingRoleRequest)
  const alarms = (notifications?.notifications ?? []).filter((one) => isUnread(one) && isCritical(one.kind)).slice(0, 5)
  const invitations = (groups ?? []).filter(({ standing }) => standing === 'invited')
  const isEmpty = ![asking, inTrouble, requests, roles, alarms, invitations].some((list) => list.length)
  return h('section', { class: 'card', 'aria-labelledby': 'waiting-title' },
    h('h2', { id: 'waiting-title' }, 'What waits for you'),
    isEmpty && h('div', { class: 'empty' }, iconOf('check'), h('p', {}, cards.length ? 'Nothing. Everybody is fine.' : 'Nothing yet. Add somebody who looks after you.', !cards.length && h('br'), !cards.length && h('a', { href: '/contacts' }, 'Contacts'))),
    inTrouble.length > 0 && [h('h3', {}, 'Look after'), h('ul', { class: 'plain' }, inTrouble.map(trouble))],
    asking.length > 0 && [h('h3', {}, 'They ask whether you are all right'), h('ul', { class: 'plain' }, asking.map(ping)), pingActions(asking.length)],
    requests.length > 0 && [h('h3', {}, 'Requests'), h('ul', { class: 'plain' }, requests.map(requestCard))],
    roles.length > 0 && [h('h3', {}, 'They want to look after you'), h('ul', { class: 'plain' }, roles.map(roleRequestCard))],
    invitations.length > 0 && [h('h3', {}, 'Invitations'), h('ul', { class: 'plain' }, invitations.map(invitation))],
    alarms.length > 0 && [h('h3', {}, 'Unread alarms'), h('ul', { class: 'plain' }, alarms.map((one) =>
      h('li', { key: one.id, class: 'line critical' }, h('a', { href: '/notifications' }, sentence(one, personName(one.subject))), h('small', {}, ago(one.created)))))])
}

const trouble = ({ card, card: { contact, person }, level }) =>
  h('li', { key: contact.account, class: 'line' },
    portrait(contact.account, personName(contact.account), person?.avatar),
    h('a', { href: `/contacts/${contact.account}` }, h('strong', {}, personName(contact.account)), h('small', {}, statusText(card, level, now()))),
    badge(levels[level].title, levels[level].tone))

const ping = ({ contact, person }) =>
  h('li', { key: contact.account, class: 'line' },
    portrait(contact.account, personName(contact.account), person?.avatar),
    h('a', { href: `/contacts/${contact.account}` }, h('strong', {}, personName(contact.account)), h('small', {}, `asked ${ago(contact.incomingPing)}`)),
    button('I’m all right', () => act('RespondToPing', { contact: contact.account }, 'Answered'), { kind: 'small' }))

const invitation = ({ group, activity, host }) =>
  h('li', { key: group, class: 'line' },
    portrait(host ?? group, host ? personName(host) : '?', model.replica.people.get(host)?.avatar),
    h('span', {}, h('strong', {}, activity.title), h('small', {}, host && `from ${personName(host)}`)),
    h('a', { class: 'button small', href: '/together' }, 'Look'))

function pingActions(count) {
  const clear = async () => {
    const isSure = await confirm({
      title: count === 1 ? 'Clear this ping?' : `Clear all ${count} pings?`, action: 'Clear and check in', kind: 'primary',
      text: 'Everybody who asked gets your answer, their notifications are cleared, and you are checked in.',
    })
    if (isSure) operate('ClearAllReceivedPings', { checkIn: true }, 'Answered, and checked in')
  }
  return h('div', { class: 'actions' },
    count > 1 && button('Answer all', () => operate('RespondToAllPings', {}, 'Answered')),
    button('Clear all and check in', clear, { kind: 'primary' }))
}
