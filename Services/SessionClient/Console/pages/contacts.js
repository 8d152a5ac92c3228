/** `/contacts`: everybody, grouped and sorted (S47); requests; adding somebody. */
import { h } from '../core/view.js'
import { model } from '../core/model.js'
import { now, second } from '../core/time.js'
import { draft, setDraft } from '../core/drafts.js'
import { act } from '../core/actions.js'
import { Arrangement, levels, sorts, statusText } from '../state/lists.js'
import { picturesLoaded } from '../net/api.js'
import { editedContact } from '../state/edits.js'
import { addForm, ownCode, readScannedCode } from '../parts/adding.js'
import { badge, button, choices, empty, field, portrait, refusal, toggle, waitingPage } from '../parts/pieces.js'
import { confirm } from '../parts/dialogs.js'
import { requestCard } from '../parts/requests.js'
import { rowHeight, virtualList } from '../parts/virtual-list.js'

const form = 'contacts'
/** How often times in the list are brought up to date. */
const step = 10 * second
const roles = { all: 'All', dependents: 'I look after', responders: 'Look after me' }

export function contacts() {
  readScannedCode()
  const state = model.replica?.contacts
  if (!state) return waitingPage()
  return h('div', { class: 'columns wide-first' }, list(state), adding(state))
}

function list(state) {
  const { role = 'all', sort = 'status', search = '' } = draft(form)
  // In steps: between them the list is the same, and isn't arranged again.
  const steps = Math.floor(now() / step)
  const { peopleChanges } = model.replica
  const found = rowsOf(arranged(state.contacts, model.outbox, peopleChanges, role, sort, search, steps), rowHeight())
  return h('section', { 'aria-labelledby': 'contacts-title' },
    h('h1', { id: 'contacts-title' }, 'Contacts ', state.contacts.size > 0 && badge(state.contacts.size)),
    h('div', { class: 'tools' },
      choices('Whom', roles, role, (next) => setDraft(form, { role: next })),
      h('label', { class: 'inline' }, 'Sort by ',
        h('select', { value: sort, onchange: (event) => setDraft(form, { sort: event.target.value }) },
          Object.entries(sorts).map(([name, { title }]) => h('option', { key: name, value: name }, title)))),
      state.contacts.size > 8 && field('Search', { id: 'contact-search', type: 'search', value: search, oninput: (event) => setDraft(form, { search: event.target.value }) })),
    found.length ? virtualList('Contacts', found, [steps, picturesLoaded()])
      : state.contacts.size ? empty('Nobody here', 'No contact matches.')
        : empty('No contacts yet', 'Add somebody by their code or handle, or show them yours.'))
}

const arrangement = new Arrangement()

/** The rows of the list, the same ones as long as they are the same contacts in the same order. */
const rowsOf = remembered((items, height) => items.flatMap((item, place) => {
  const row = { key: item.card.contact.account, height, view: () => contactRow(item) }
  if (!item.title || item.title === items[place - 1]?.title) return [row]
  return [{ key: `group-${row.key}`, height: 40, view: () => h('h2', { class: 'group' }, item.title, ' ', h('span', { class: 'hint' }, items.filter(({ title }) => title === item.title).length)) }, row]
}))

const arranged = remembered((contacts, outbox, changes, role, sort, search, steps) => {
  const { people } = model.replica
  const cards = Array.from(contacts.values(), (one) => ({ contact: editedContact(one, outbox), person: people.get(one.account) }))
  return arrangement.items(cards, { role, sort, search }, steps * step)
})

/** Calls `function_` only when an argument is another one. */
function remembered(function_) {
  let last = []
  let result
  return (...args) => {
    if (args.length !== last.length || args.some((arg, place) => arg !== last[place])) {
      last = args
      result = function_(...args)
    }
    return result
  }
}

function contactRow({ card, name, level }) {
  const { contact, person } = card
  const { tone } = levels[level]
  const does = (command, done) => (event) => { event.preventDefault(); act(command, { contact: contact.account }, done) }
  return h('div', { class: `row ${tone}` },
    portrait(contact.account, name, person?.avatar),
    h('a', { class: 'row-text', href: `/contacts/${contact.account}` },
      h('strong', {}, name, contact.isSaving && h('em', {}, ' saving…')),
      h('small', {}, statusText(card, level, now()))),
    contact.iAmResponder && contact.isMyResponder ? badge('each other') : contact.isMyResponder && badge('responder'),
    contact.incomingPing ? button('I’m all right', does('RespondToPing', 'Answered'), { kind: 'small primary' })
      : contact.outgoingPing ? button('Cancel', does('CancelPing', 'Cancelled'), { kind: 'small' })
        : contact.iAmResponder && button('Ping', does('SendPing', `${name} was asked`), { kind: 'small', 'aria-label': `Ping ${name}` }))
}

function adding(state) {
  const requests = [...state.requests.values()]
  const reset = async () => {
    const isSure = await confirm({ title: 'Make a new code?', text: 'The present one stops working at once, also where you printed it.', action: 'Make a new code' })
    if (isSure) act('ResetContactCode', {}, 'New code', 'code')
  }
  return h('div', {},
    requests.length > 0 && h('section', { class: 'card' }, h('h2', {}, 'Requests'), h('ul', { class: 'plain' }, requests.map(requestCard))),
    h('section', { class: 'card' }, h('h2', {}, 'Add somebody'), addForm()),
    h('section', { class: 'card' }, h('h2', {}, 'Your code'), ownCode(),
      toggle('Ask me first', state.isApprovalRequired, (isRequired) => act('SetContactApproval', { isRequired }, undefined, 'code'), { hint: 'Even those who have the code need your approval' }),
      button('Make a new code', reset, { kind: 'link' }), refusal('code')))
}
