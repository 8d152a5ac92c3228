/** `/me`: profile, picture, devices, security, and what waits to be sent. */
import { h } from '../core/view.js'
import { chooseLanguage, languages, languageSetting, t } from '../core/language.js'
import { changed, model } from '../core/model.js'
import { draft, setDraft, takeDraft } from '../core/drafts.js'
import { attempt, command } from '../core/actions.js'
import { problemOf, setProblem } from '../core/problems.js'
import { ask } from '../net/api.js'
import { editedAccount, editOf } from '../state/edits.js'
import { drop, isHeldUp } from '../net/outbox.js'
import { button, field, portrait, refusal, refusals, waitingPage } from '../parts/pieces.js'
import { devices, security } from '../parts/security.js'
import { outbox } from '../parts/outbox-list.js'
import { pushSwitch, tellLanguage } from '../parts/pushes.js'
import { switchAccount } from '../parts/shell.js'

const form = 'profile'
const fields = ['name', 'emergencyNote']

export function me() {
  const stored = model.replica?.account
  if (!stored) return waitingPage()
  const account = editedAccount(stored, model.outbox)
  return h('div', { class: 'columns' },
    h('div', {}, head(account), profile(stored, account), languageChoice(), outbox()),
    h('div', {}, pushSwitch(), devices(account), security(account)))
}

function head(account) {
  const upload = async (event) => {
    const [file] = event.target.files
    event.target.value = ''
    if (!file) return
    if (!['image/png', 'image/jpeg'].includes(file.type) || file.size > 2_000_000) return setProblem('picture', new Error(t`Choose a PNG or JPEG of at most 2 MB.`))
    attempt(() => ask('PUT', '/v1/account/avatar', { bytes: file, type: file.type }), t`Picture changed`, { at: 'picture', isKept: false })
  }
  return h('section', { class: 'card head' },
    portrait(account.account, account.name ?? account.handle, account.avatar, 'large'),
    h('div', {},
      h('h1', {}, account.name ?? t`Nameless`, account.isSaving && h('em', {}, ' ', t`saving…`)),
      h('p', { class: 'hint' }, `@${account.handle}`)),
    h('div', { class: 'actions' },
      h('label', { class: 'button' }, t`Choose a picture`, h('input', { type: 'file', accept: 'image/png,image/jpeg', class: 'visually-hidden', onchange: upload })),
      account.avatar && button(t`Remove the picture`, () => attempt(() => ask('DELETE', '/v1/account/avatar'), t`Picture removed`, { at: 'picture', isKept: false }), { kind: 'link' }),
      button(t`Use another account`, () => switchAccount(undefined), { kind: 'link' })),
    refusal('picture'))
}

/** The language of this browser's pages, whoever uses them. */
function languageChoice() {
  const choose = async ({ target }) => {
    setProblem('language')
    try {
      await chooseLanguage(target.value)
      tellLanguage()
    } catch {
      setProblem('language', new Error(t`The texts of this language can’t be loaded. Try again later.`))
    }
    changed()
  }
  return h('section', { class: 'card', 'aria-label': t`Language` },
    h('div', { class: 'field' }, h('label', { for: 'language' }, t`Language`),
      h('select', { id: 'language', value: languageSetting(), onchange: choose },
        h('option', { value: '' }, t`As the browser has it`),
        Object.entries(languages).map(([code, name]) => h('option', { key: code, value: code, lang: code }, name)))),
    refusal('language'))
}

function profile(stored, account) {
  const typed = draft(form)
  const value = (field) => typed[field] ?? account[field] ?? ''
  const isChanged = fields.some((field) => value(field) !== (account[field] ?? ''))
  const save = async (event) => {
    event.preventDefault()
    const changes = Object.fromEntries(fields.filter((field) => value(field) !== (account[field] ?? '')).map((field) => [field, value(field)]))
    const base = Object.fromEntries(Object.keys(changes).map((field) => [field, stored[field]]))
    const dropSent = takeDraft(form)
    if (await attempt(() => command('UpdateProfile', changes, { base: { ...base, version: stored.profileVersion } }), undefined, { at: form })) dropSent()
  }
  const entry = editOf(undefined, model.outbox)
  const { at, rest } = refusals(entry?.problem ?? problemOf(form))
  return h('form', { class: 'card', onsubmit: save, 'aria-label': t`Profile` },
    h('h2', {}, t`Profile`),
    field(t`Name`, { id: 'name', required: true, minlength: 2, maxlength: 50, autocomplete: 'name', value: value('name'), oninput: (event) => setDraft(form, { name: event.target.value }) }, { problem: at('name') }),
    field(t`Emergency note`, { id: 'emergency-note', tag: 'textarea', rows: 3, maxlength: 1000, value: value('emergencyNote'), oninput: (event) => setDraft(form, { emergencyNote: event.target.value }) },
      { hint: t`Those who look after you see it: medicines, doctors, who has a key.`, problem: at('emergencyNote') }),
    rest(),
    h('div', { class: 'actions' },
      entry?.state === 'refused' && h('span', { class: 'standing problem' }, t`Not saved.`, button(t`Discard`, () => { setProblem(form); drop(entry.id) }, { kind: 'link' })),
      entry && entry.state !== 'refused' && h('span', { class: 'standing', role: 'status' }, isHeldUp(entry) ? t`Will sync when online` : t`Saving…`),
      h('button', { class: 'button primary', disabled: !isChanged }, t`Save`)))
}
