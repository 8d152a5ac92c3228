/** What somebody wants to be reminded of: what is open, and a form for more. Only they read it. */
import { h } from '../core/view.js'
import { t } from '../core/language.js'
import { model } from '../core/model.js'
import { day, minute, moment, newKey, now } from '../core/time.js'
import { act, underway } from '../core/actions.js'
import { draft, dropDraft, setDraft, takeDraft } from '../core/drafts.js'
import { problemOf } from '../core/problems.js'
import { remindersOf } from '../state/notifications.js'
import { button, field, refusal, refusals } from './pieces.js'

const form = 'reminder'
const list = 'reminders'
/** How far ahead the server allows it. */
const longest = 366 * day

export function reminders(state) {
  const open = remindersOf(state)
  // A kept page may be old: what is open can be read there.
  if (model.isKept && !open.length) return undefined
  return h('section', { class: 'card reminders', 'aria-label': t`Reminders` },
    open.length > 0 && h('ul', { class: 'plain' }, open.map(line)), refusal(list),
    !model.isKept && h('details', {}, h('summary', {}, t`Be reminded of something`), adding()))
}

function line({ id, details, due }) {
  const isGoing = Boolean(underway('CancelReminder', { id }))
  // Without an event there was nothing to take back any more.
  const outcome = (reply) => (!reply?.event && (isThere(id) || due <= now()) ? t`It has come already` : t`Taken back`)
  // Not disabled meanwhile: that would lose the focus, which goes on from here.
  return h('li', { key: id, class: 'line', mount: passFocusOn },
    h('span', {}, h('strong', {}, details.reminder), h('small', {}, moment(due))),
    button(t`Take back`, () => isGoing || act('CancelReminder', { id }, outcome, list),
      { kind: 'small', 'aria-disabled': isGoing ? 'true' : undefined, 'aria-label': t`Take back: ${details.reminder}` }))
}

/** Whether it has been delivered, as far as this page has the history. */
const isThere = (id) => Boolean(model.replica?.notifications?.notifications.some((one) => one.id === id))

/** When a line goes, the focus that was in it is on its neighbour's button, or on what opens the form. */
const passFocusOn = (element) => () => {
  if (!element.contains(document.activeElement)) return
  const neighbour = element.nextElementSibling ?? element.previousElementSibling
  const next = neighbour?.querySelector('button') ?? element.closest('.reminders')?.querySelector('summary')
  next?.focus()
}

/** A time as the field of the form has it, by this device's clock: `2026-05-01T14:05`. */
function local(time) {
  const date = new Date(time / 1000)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/**
 * What is typed; nothing once the reminder is there that was made of it. Its id stays with it until something of it is changed: pressed twice
 * because an answer was lost, it is still one reminder.
 */
function typed() {
  const { text = '', due = '', id } = draft(form)
  const isSet = id && (isThere(id) || remindersOf(model.replica?.notifications ?? {}).some((one) => one.id === id))
  if (!isSet) return { text, due, id }
  // The answer may have been lost; later, when it isn't there any more, it isn't what somebody typed.
  dropDraft(form)
  return { text: '', due: '' }
}

function adding() {
  const { text, due } = typed()
  const add = async (event) => {
    event.preventDefault()
    const { text, due, id = newKey() } = typed()
    const time = new Date(due).getTime() * 1000
    setDraft(form, { text, due, id })
    const dropSent = takeDraft(form)
    if (await act('ScheduleReminder', { id, text, due: time }, t`You will be reminded: ${moment(time)}`, form)) dropSent()
  }
  const set = (name) => (event) => setDraft(form, { ...typed(), id: undefined, [name]: event.target.value })
  const { at, rest } = refusals(problemOf(form))
  const entry = underway('ScheduleReminder')
  return h('form', { onsubmit: add, 'aria-label': t`Be reminded of something` },
    field(t`Of what`, { id: 'reminder-text', required: true, maxlength: 200, value: text, oninput: set('text') },
      { hint: t`Only you read it, and it isn’t in the message that your devices get.`, problem: at('text') }),
    field(t`When`, { id: 'reminder-due', type: 'datetime-local', required: true, min: local(now() + minute), max: local(now() + longest), value: due, oninput: set('due') },
      { problem: at('due') }),
    rest(),
    h('div', { class: 'actions' }, h('button', { class: 'button primary', disabled: Boolean(entry) }, entry ? t`Sending…` : t`Remind me`)))
}
