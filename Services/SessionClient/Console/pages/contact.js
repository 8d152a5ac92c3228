/** `/contacts/{account}`: one contact, and what I set for them. Edits show at once and are kept until they are decided (S20). */
import { h } from '../core/view.js'
import { model } from '../core/model.js'
import { ago, moment, now } from '../core/time.js'
import { draft, dropDraft, setDraft, takeDraft } from '../core/drafts.js'
import { act, attempt, command } from '../core/actions.js'
import { go } from '../core/router.js'
import { drop, isHeldUp } from '../net/outbox.js'
import { levelOf, levels, statusText } from '../state/lists.js'
import { editedContact, editOf } from '../state/edits.js'
import { responderConsent } from '../core/words.js'
import { confirm } from '../parts/dialogs.js'
import { iconOf } from '../parts/icons.js'
import { personName } from '../parts/names.js'
import { button, empty, field, portrait, ring, toggle, waiting } from '../parts/pieces.js'

export function contact({ account }) {
  if (!model.replica?.contacts) return waiting()
  const stored = model.replica.contacts.contacts.get(account)
  if (!stored) return empty('Not a contact', 'They may have been removed.', h('a', { class: 'button', href: '/contacts' }, 'All contacts'))
  const one = editedContact(stored, model.outbox)
  const person = model.replica.people.get(account)
  return h('div', { class: 'narrow', key: account },
    h('a', { class: 'back', href: '/contacts' }, iconOf('back'), 'Contacts'),
    head(one, person), state(one, person), form(stored, one), roles(stored, one), danger(one))
}

function head(one, person) {
  const card = { contact: one, person }
  const level = levelOf(card, now())
  const send = (name, done) => () => act(name, { contact: one.account }, done)
  return h('section', { class: `card head ${levels[level].tone}` },
    portrait(one.account, one.nickname || personName(one.account), person?.avatar, 'large'),
    h('div', {},
      h('h1', {}, one.nickname || personName(one.account), one.isSaving && h('em', {}, ' saving…')),
      h('p', { class: 'hint' }, [one.nickname && person?.name, person?.handle && `@${person.handle}`].filter(Boolean).join(' · ')),
      h('p', { class: 'status-text' }, statusText(card, level, now()))),
    h('div', { class: 'actions' },
      one.incomingPing && button('I’m all right', send('RespondToPing', 'Answered'), { kind: 'primary' }),
      one.outgoingPing ? button('Cancel the ping', send('CancelPing', 'Cancelled'))
        : one.iAmResponder && button([iconOf('ping'), 'Are you all right?'], send('SendPing', `${one.nickname || personName(one.account)} was asked`))))
}

/** What a responder sees of a dependent. */
function state(one, person) {
  if (!person?.checkIn) return undefined
  return h('section', { class: 'card split', 'aria-label': 'Check-in' },
    ring(person.checkIn, now()),
    h('div', {},
      person.alertRaised && h('p', { class: 'notice critical', role: 'alert' }, `Alert since ${moment(person.alertRaised)}`),
      h('p', {}, person.checkIn.last ? `Last check-in ${ago(person.checkIn.last)}` : 'No check-in yet'),
      person.emergencyNote && [h('h2', {}, 'Emergency note'), h('p', { class: 'note' }, person.emergencyNote)]))
}

const fields = ['nickname', 'notes']

function form(stored, one) {
  const name = `contact/${stored.account}`
  const typed = draft(name)
  const value = (field) => typed[field] ?? one[field]
  const isChanged = fields.some((field) => value(field) !== one[field])
  const save = async (event) => {
    event.preventDefault()
    const changes = Object.fromEntries(fields.filter((field) => value(field) !== one[field]).map((field) => [field, value(field)]))
    const dropSent = takeDraft(name)
    if (await edit(stored, changes)) dropSent()
  }
  return h('form', { class: 'card', onsubmit: save, 'aria-label': 'Only for you' },
    h('h2', {}, 'Only for you'),
    field('Nickname', { id: 'nickname', maxlength: 50, value: value('nickname'), oninput: (event) => setDraft(name, { nickname: event.target.value }) }),
    field('Notes', { id: 'notes', tag: 'textarea', rows: 3, maxlength: 1000, value: value('notes'), oninput: (event) => setDraft(name, { notes: event.target.value }) }),
    h('div', { class: 'actions' },
      standing(stored.account),
      isChanged && button('Discard', () => dropDraft(name), { kind: 'link' }),
      h('button', { class: 'button primary', disabled: !isChanged }, 'Save')))
}

/** How the last edit stands. */
function standing(account) {
  const entry = editOf(account, model.outbox)
  if (!entry) return undefined
  if (entry.state !== 'refused') {
    return h('span', { class: 'standing', role: 'status' }, isHeldUp(entry) ? 'Will sync when online' : 'Saving…')
  }
  const again = () => attempt(async () => {
    await drop(entry.id)
    return edit(model.replica.contacts.contacts.get(account), entry.fields)
  })
  return h('span', { class: 'standing problem', role: 'alert' }, `Not saved: ${entry.problem.message}`,
    button(entry.problem.code === 'conflict' ? 'Use mine' : 'Try again', again, { kind: 'small' }), button('Discard', () => drop(entry.id), { kind: 'link' }))
}

/** Changes fields of a contact. What was typed stays in the form until that is stored. */
async function edit(stored, changes) {
  const base = Object.fromEntries(Object.keys(changes).map((field) => [field, stored[field]]))
  return attempt(() => command('UpdateContact', { contact: stored.account, ...changes }, { base: { ...base, version: stored.version } }))
}

function roles(stored, one) {
  const set = (name) => (isOn) => edit(stored, { [name]: isOn })
  const send = (name, done) => () => act(name, { contact: one.account }, done)
  return h('section', { class: 'card', 'aria-labelledby': 'roles-title' },
    h('h2', { id: 'roles-title' }, 'Roles'),
    toggle('They look after you', one.isMyResponder, set('isMyResponder'), { hint: 'They see your check-ins and alerts, and are told when you miss one', disabled: !one.isMyResponder || !one.iAmResponder }),
    one.isMyResponder && h('div', { class: 'nested' }, toggle('They may ping me', one.receivePings, set('receivePings'))),
    one.iAmResponder ? looking(one, set)
      : one.outgoingRoleRequest ? h('p', { class: 'line' }, h('span', {}, `You asked ${ago(one.outgoingRoleRequest)} to look after them`), button('Withdraw', send('WithdrawRoleChange', 'Withdrawn'), { kind: 'small' }))
        : h('p', {}, button('Ask to look after them', send('RequestRoleChange', `${one.nickname || personName(one.account)} was asked`)),
          h('small', { class: 'hint' }, responderConsent)),
    one.incomingRoleRequest && h('p', { class: 'line' }, h('span', {}, 'They ask to look after you'),
      button('Decline', send('DeclineRoleChange', 'Declined'), { kind: 'small' }), button('Accept', send('AcceptRoleChange', 'Accepted'), { kind: 'small primary' })),
    h('p', { class: 'hint' }, `Contacts since ${moment(one.added)}`, one.isMyResponder !== one.iAmResponder && '. At least one role stays; without any, remove the contact.'))
}

/** What a responder chooses. */
const looking = (one, set) => [
  toggle('You look after them', true, set('iAmResponder'), { disabled: !one.isMyResponder }),
  h('div', { class: 'nested' },
    toggle('Tell me when they check in', one.notifyOnCheckIn, set('notifyOnCheckIn')),
    toggle('Tell me when they miss a check-in', one.notifyOnMissedCheckIn, set('notifyOnMissedCheckIn')),
    toggle('I ping them', one.sendPings, set('sendPings'))),
]

function danger(one) {
  const name = one.nickname || personName(one.account)
  const remove = async () => {
    const isSure = await confirm({ title: `Remove ${name}?`, text: 'You disappear from each other’s contacts, and pings between you end. To be contacts again, one of you has to add the other.', action: 'Remove' })
    if (isSure && await act('RemoveContact', { contact: one.account }, 'Removed')) go('/contacts')
  }
  const block = async () => {
    const isSure = await confirm({ title: `Block ${name}?`, text: 'They are removed, and can’t add you or ask you again until you unblock them.', action: 'Block' })
    if (isSure && await act('BlockContact', { contact: one.account }, 'Blocked')) go('/contacts')
  }
  return h('section', { class: 'card', 'aria-label': 'Ending it' }, h('div', { class: 'actions' },
    button('Remove', remove, { kind: 'danger-quiet' }), button('Block', block, { kind: 'danger-quiet' })))
}
