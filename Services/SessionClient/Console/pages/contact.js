/** `/contacts/{account}`: one contact, and what I set for them. Edits show at once and are kept until they are decided (S20). */
import { h } from '../core/view.js'
import { t } from '../core/language.js'
import { model } from '../core/model.js'
import { ago, moment, now } from '../core/time.js'
import { draft, dropDraft, setDraft, takeDraft } from '../core/drafts.js'
import { act, attempt, command } from '../core/actions.js'
import { problemOf, setProblem } from '../core/problems.js'
import { go } from '../core/router.js'
import { drop, isHeldUp } from '../net/outbox.js'
import { isAlarm, levelOf, levels, statusText } from '../state/lists.js'
import { editedContact, editOf } from '../state/edits.js'
import { responderConsent } from '../core/words.js'
import { answering } from '../parts/answers.js'
import { confirm } from '../parts/dialogs.js'
import { iconOf } from '../parts/icons.js'
import { personName } from '../parts/names.js'
import { canAskAgain, pingDueWords, pingEscalationOf } from '../parts/ping-settings.js'
import { button, empty, field, portrait, refusal, refusals, ring, toggle, waitingPage } from '../parts/pieces.js'

export function contact({ account }) {
  if (!model.replica?.contacts) return waitingPage()
  const stored = model.replica.contacts.contacts.get(account)
  if (!stored) return empty(t`Not a contact`, t`They may have been removed.`, h('a', { class: 'button', href: '/contacts' }, t`All contacts`))
  const one = editedContact(stored, model.outbox)
  const person = model.replica.people.get(account)
  const level = levelOf({ contact: one, person }, now())
  return h('div', { class: 'narrow', key: account },
    h('a', { class: 'back', href: '/contacts' }, iconOf('back'), t`Contacts`),
    head(one, person, level), isAlarm(level) ? help(one, person) : state(person), form(stored, one), roles(stored, one), danger(one))
}

const nameOf = (one) => one.nickname || personName(one.account)

function head(one, person, level) {
  const send = (name, done) => () => act(name, { contact: one.account }, done, 'contact')
  return h('section', { class: `card head ${levels[level].tone}` },
    portrait(one.account, nameOf(one), person?.avatar, 'large'),
    h('div', {},
      h('h1', {}, nameOf(one), one.isSaving && h('em', {}, ' ', t`saving…`)),
      h('p', { class: 'hint' }, [one.nickname && person?.name, person?.handle && `@${person.handle}`].filter(Boolean).join(' · ')),
      h('p', { class: 'status-text' }, statusText({ contact: one, person }, level, now()))),
    (one.incomingPing || !isAlarm(level)) && h('div', { class: 'actions' },
      one.incomingPing && button(t`I’m all right`, () => act('RespondToPing', { contact: one.account, sent: one.incomingPing, pressed: now() }, t`Answered`, 'contact'), { kind: 'primary' }),
      !isAlarm(level) && asking(one)),
    one.outgoingPing && pingDueWords(one) && h('p', { class: 'hint' }, pingDueWords(one)),
    one.incomingPing && one.incomingPingDue > now() && h('p', { class: 'notice warning' }, t`If you don’t answer by ${moment(one.incomingPingDue)}, your responders are told.`),
    refusal('contact'))
}

function asking(one) {
  const send = (name, done) => () => act(name, { contact: one.account }, done, 'contact')
  const ask = send('SendPing', t`${nameOf(one)} was asked`)
  return one.outgoingPing ? [canAskAgain(one) && [button([iconOf('ping'), t`Ask again`], ask), ' '], button(t`Cancel the ping`, send('CancelPing', t`Cancelled`))]
    : one.iAmResponder && button([iconOf('ping'), t`Are you all right?`], ask)
}

/** What to do for somebody who needs help, or may: what they wrote for that comes first. */
function help(one, person) {
  const { emergencyNote, checkIn, trip } = person
  const noted = [trip && [t`Trip: ${trip.name}`, [trip.note, t`Expected by ${moment(trip.eta)}.`].filter(Boolean).join('\n')], emergencyNote && [t`Emergency note`, emergencyNote], one.notes && [t`Your notes`, one.notes]].filter(Boolean)
  return h('section', { class: 'card help', 'aria-labelledby': 'help-title' },
    !model.isKept && answering(one, person, nameOf(one)),
    noted.map(([title, text]) => [h('h2', {}, title), h('p', { class: 'note' }, withNumbers(text))]),
    h('h2', { id: 'help-title' }, t`What to do`),
    h('ol', {},
      h('li', {}, t`Call ${nameOf(one)}, or go there.`),
      h('li', {}, one.outgoingPing ? t`You asked ${ago(one.outgoingPing)}: no answer yet.` : t`Ask whether they are all right.`, ' ', asking(one)),
      h('li', {}, t`No answer? Call somebody who is near them, or an emergency number.`)),
    checkIn && h('p', { class: 'hint' }, checkIn.last ? t`Last check-in ${ago(checkIn.last)}, ${moment(checkIn.last)}` : t`They have never checked in.`))
}

const number = /(?:\+|\b0)\d[\d ()/-]{5,}\d/g

/** A text whose telephone numbers can be called. */
function withNumbers(text) {
  const found = text.match(number) ?? []
  return text.split(number).flatMap((part, place) =>
    [part, found[place] && h('a', { href: `tel:${found[place].replace(/[^\d+]/g, '')}` }, found[place])])
}

/** What a responder sees of a dependent on other days. */
function state(person) {
  if (!person?.checkIn) return undefined
  const { checkIn, emergencyNote } = person
  return h('section', { class: 'card split', 'aria-label': 'Check-in' },
    ring(checkIn, now(), !checkIn.last),
    h('div', {},
      h('p', {}, checkIn.last ? t`Last check-in ${ago(checkIn.last)}` : t`No check-in yet`),
      emergencyNote && [h('h2', {}, t`Emergency note`), h('p', { class: 'note' }, withNumbers(emergencyNote))]))
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
    if (await edit(stored, changes, 'edit')) dropSent()
  }
  const entry = editAt(stored.account, 'edit')
  const { at, rest } = refusals(entry?.problem ?? problemOf('edit'))
  return h('form', { class: 'card', onsubmit: save, 'aria-label': t`Only for you` },
    h('h2', {}, t`Only for you`),
    field(t`Nickname`, { id: 'nickname', maxlength: 50, value: value('nickname'), oninput: (event) => setDraft(name, { nickname: event.target.value }) }, { problem: at('nickname') }),
    field(t`Notes`, { id: 'notes', tag: 'textarea', rows: 3, maxlength: 1000, value: value('notes'), oninput: (event) => setDraft(name, { notes: event.target.value }) }, { problem: at('notes') }),
    rest(),
    h('div', { class: 'actions' },
      standing(entry),
      isChanged && button(t`Discard`, () => dropDraft(name), { kind: 'link' }),
      h('button', { class: 'button primary', disabled: !isChanged }, t`Save`)))
}

/** Where an edit was made: in the form, or by a switch. */
const placeOf = (entry) => (fields.some((field) => field in entry.fields) ? 'edit' : 'roles')

/** The last edit, if it was made there. */
function editAt(account, place) {
  const entry = editOf(account, model.outbox)
  return entry && placeOf(entry) === place ? entry : undefined
}

/** How an edit stands; why it was refused is said above. */
function standing(entry) {
  if (!entry) return undefined
  if (entry.state !== 'refused') {
    return h('span', { class: 'standing', role: 'status' }, isHeldUp(entry) ? t`Will sync when online` : t`Saving…`)
  }
  const again = () => attempt(async () => {
    await drop(entry.id)
    return edit(model.replica.contacts.contacts.get(entry.fields.contact), entry.fields, placeOf(entry))
  })
  return h('span', { class: 'standing problem' }, t`Not saved.`,
    button(entry.problem.code === 'conflict' ? t`Use mine` : t`Try again`, again, { kind: 'small' }),
    button(t`Discard`, () => { setProblem(placeOf(entry)); drop(entry.id) }, { kind: 'link' }))
}

/** Changes fields of a contact. What was typed stays in the form until that is stored. A refused edit stays in the outbox. */
async function edit(stored, changes, at) {
  const base = Object.fromEntries(Object.keys(changes).map((field) => [field, stored[field]]))
  return attempt(() => command('UpdateContact', { contact: stored.account, ...changes }, { base: { ...base, version: stored.version } }), undefined, { at })
}

function roles(stored, one) {
  // Whoever wants to be told has read what that shows of them. To want less agrees to nothing.
  const agreed = (name, isOn) => (name === 'notifyOnMissedCheckIn' && isOn ? { iAmResponder: true } : {})
  const set = (name) => (isOn) => edit(stored, { [name]: isOn, ...agreed(name, isOn) }, 'roles')
  const send = (name, done) => () => act(name, { contact: one.account }, done, 'roles')
  const entry = editAt(stored.account, 'roles')
  return h('section', { class: 'card', 'aria-labelledby': 'roles-title' },
    h('h2', { id: 'roles-title' }, t`Roles`),
    toggle(t`They look after you`, one.isMyResponder, set('isMyResponder'), { hint: t`They see your check-ins and alerts, and are told when you miss one`, disabled: !one.isMyResponder || !one.iAmResponder }),
    one.isMyResponder && h('div', { class: 'nested' }, toggle(t`They may ping me`, one.receivePings, set('receivePings')), one.receivePings && pingEscalationOf(one)),
    one.iAmResponder ? looking(one, set)
      : one.outgoingRoleRequest ? h('p', { class: 'line' }, h('span', {}, t`You asked ${ago(one.outgoingRoleRequest)} to look after them`), button(t`Withdraw`, send('WithdrawRoleChange', t`Withdrawn`), { kind: 'small' }))
        : h('p', {}, button(t`Ask to look after them`, send('RequestRoleChange', t`${nameOf(one)} was asked`)),
          h('small', { class: 'hint' }, responderConsent())),
    one.incomingRoleRequest && h('p', { class: 'line' }, h('span', {}, t`They ask to look after you`),
      button(t`Decline`, send('DeclineRoleChange', t`Declined`), { kind: 'small' }), button(t`Accept`, send('AcceptRoleChange', t`Accepted`), { kind: 'small primary' })),
    h('p', { class: 'hint' }, t`Contacts since ${moment(one.added)}.`, one.isMyResponder !== one.iAmResponder && ` ${t`At least one role stays; without any, remove the contact.`}`),
    refusals(entry?.problem ?? problemOf('roles')).rest(), entry && h('p', { class: 'actions' }, standing(entry)))
}

/** What a responder chooses. */
const looking = (one, set) => [
  toggle(t`You look after them`, true, set('iAmResponder'), { disabled: !one.isMyResponder }),
  h('div', { class: 'nested' },
    toggle(t`Tell me when they check in`, one.notifyOnCheckIn, set('notifyOnCheckIn')),
    toggle(t`Tell me when they miss a check-in`, one.notifyOnMissedCheckIn, set('notifyOnMissedCheckIn'), { hint: t`Whoever turns it on agrees: ${responderConsent()}` }),
    toggle(t`I ping them`, one.sendPings, set('sendPings'))),
]

function danger(one) {
  const name = nameOf(one)
  const remove = async () => {
    const isSure = await confirm({ title: t`Remove ${name}?`, text: t`You disappear from each other’s contacts, and pings between you end. To be contacts again, one of you has to add the other.`, action: t`Remove` })
    if (isSure && await act('RemoveContact', { contact: one.account }, t`Removed`, 'ending')) go('/contacts')
  }
  const block = async () => {
    const isSure = await confirm({ title: t`Block ${name}?`, text: t`They are removed, and can’t add you or ask you again until you unblock them.`, action: t`Block` })
    if (isSure && await act('BlockContact', { contact: one.account }, t`Blocked`, 'ending')) go('/contacts')
  }
  return h('section', { class: 'card', 'aria-label': t`Ending it` }, h('div', { class: 'actions' },
    button(t`Remove`, remove, { kind: 'danger-quiet' }), button(t`Block`, block, { kind: 'danger-quiet' })),
    refusal('ending'))
}
