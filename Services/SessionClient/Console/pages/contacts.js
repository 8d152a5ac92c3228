/** `/contacts`: everybody, grouped and sorted (S47); requests; adding somebody. */
import { h } from '../core/view.js'
import { language, t } from '../core/language.js'
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
import { canAskAgain } from '../parts/ping-settings.js'
import { requestCard } from '../parts/requests.js'
import { rowHeight, virtualList } from '../parts/virtual-list.js'

const form = 'contacts'
/** How often times in the list are brought up to date. */
const step = 10 * second
const roles = () => ({ all: t`All`, dependents: t`I look after`, responders: t`Look after me` })

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
  const found = rowsOf(arranged(state.contacts, model.outbox, peopleChanges, role, sort, search, steps, language()), rowHeight())
  return h('section', { 'aria-labelledby': 'contacts-title' },
    h('h1', { id: 'contacts-title' }, t`Contacts`, ' ', state.contacts.size > 0 && badge(state.contacts.size)),
    h('div', { class: 'tools' },
      choices(t`Whom`, roles(), role, (next) => setDraft(form, { role: next })),
      h('label', { class: 'inline' }, t`Sort by`, ' ',
        h('select', { value: sort, onchange: (event) => setDraft(form, { sort: event.target.value }) },
          Object.entries(sorts).map(([name, { title }]) => h('option', { key: name, value: name }, title())))),
      state.contacts.size > 8 && field(t`Search`, { id: 'contact-search', type: 'search', value: search, oninput: (event) => setDraft(form, { search: event.target.value }) })),
    found.length ? virtualList(t`Contacts`, found, [steps, picturesLoaded()])
      : state.contacts.size ? empty(t`Nobody here`, t`No contact matches.`)
        : empty(t`No contacts yet`, t`Add somebody by their code or handle, or show them yours.`))
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
  // The row may have been drawn long before it is pressed.
  const does = (command, done, fields) => (event) => { event.preventDefault(); act(command, { contact: contact.account, ...fields?.() }, done) }
  const ask = does('SendPing', t`${name} was asked`)
  return h('div', { class: `row ${tone}` },
    portrait(contact.account, name, person?.avatar),
    h('a', { class: 'row-text', href: `/contacts/${contact.account}` },
      h('strong', {}, name, contact.isSaving && h('em', {}, ' ', t`saving…`)),
      h('small', {}, statusText(card, level, now()))),
    contact.iAmResponder && contact.isMyResponder ? badge(t`each other`) : contact.isMyResponder && badge(t`responder`),
    contact.incomingPing ? button(t`I’m all right`, does('RespondToPing', t`Answered`, () => ({ sent: contact.incomingPing, pressed: now() })), { kind: 'small primary' })
      : contact.outgoingPing ? [canAskAgain(contact) && button(t`Ask again`, ask, { kind: 'small' }), button(t`Cancel`, does('CancelPing', t`Cancelled`), { kind: 'small' })]
        : contact.iAmResponder && button(t`Ping`, ask, { kind: 'small', 'aria-label': t`Ping ${name}` }))
}

function adding(state) {
  const requests = [...state.requests.values()]
  const reset = async () => {
    const isSure = await confirm({ title: t`Make a new code?`, text: t`The present one stops working at once, also where you printed it.`, action: t`Make a new code` })
    if (isSure) act('ResetContactCode', {}, t`New code`, 'code')
  }
  return h('div', {},
    requests.length > 0 && h('section', { class: 'card' }, h('h2', {}, t`Requests`), h('ul', { class: 'plain' }, requests.map(requestCard))),
    h('section', { class: 'card' }, h('h2', {}, t`Add somebody`), addForm()),
    h('section', { class: 'card' }, h('h2', {}, t`Your code`), ownCode(),
      toggle(t`Ask me first`, state.isApprovalRequired, (isRequired) => act('SetContactApproval', { isRequired }, undefined, 'code'), { hint: t`Even those who have the code need your approval` }),
      button(t`Make a new code`, reset, { kind: 'link' }), refusal('code')))
}
