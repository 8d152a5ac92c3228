/** Adding somebody: by a code, which takes effect at once, or by a handle, which is a request. */
import { h } from '../core/view.js'
import { t } from '../core/language.js'
import { model } from '../core/model.js'
import { draft, dropDraft, setDraft } from '../core/drafts.js'
import { attempt, command } from '../core/actions.js'
import { problemOf, setProblem } from '../core/problems.js'
import { toast } from '../core/toasts.js'
import { read } from '../net/api.js'
import { responderConsent } from '../core/words.js'
import { copy } from './keeping.js'
import { button, choices, field, qr, refusal, toggle } from './pieces.js'

const form = 'add'
/** Whose code it is: `{code, name}`. */
let found

const codePattern = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/i

/** Reads a code from the address, where a scanned QR code puts it: `#add=…`. */
export function readScannedCode() {
  const code = codePattern.exec(location.hash)?.[0]
  if (!code) return
  setDraft(form, { by: 'code', who: code })
  history.replaceState(null, '', location.pathname)
  lookUp(code)
}

async function lookUp(text) {
  const code = codePattern.exec(text)?.[0].toLowerCase()
  found = undefined
  if (!code) return
  try {
    const owner = await read(`/v1/contact-codes/${code}`)
    found = { code, name: owner.name ?? `@${owner.handle}` }
    setProblem(form)
  } catch (error) {
    setProblem(form, error)
  }
}

/** What a refusal means in this form, where its own words are for programs. */
function wordsOf({ code, message }, isCode) {
  if (isCode && ['invalidField', 'malformed', 'invalidID', 'notFound'].includes(code)) return t`That isn’t a code. It looks like 01a2b3c4-… or is a link.`
  if (!isCode && code === 'notFound') return t`Nobody has this handle, or they can’t be asked.`
  return message
}

async function submit(event) {
  event?.preventDefault()
  const { by = 'code', who = '', isMyResponder = true, iAmResponder = false } = draft(form)
  const code = codePattern.exec(who)?.[0].toLowerCase()
  const fields = by === 'code' ? { code: code ?? who.trim() } : { handle: who.trim().replace(/^@/, '').toLowerCase() }
  const reply = await attempt(() => command('AddContact', { ...fields, isMyResponder, iAmResponder }), undefined, { at: form })
  if (!reply) return
  found = undefined
  dropDraft(form)
  toast(reply.event === 'ContactAdded' ? t`Contact added` : t`Request sent`, 'good')
}

export function addForm() {
  const { by = 'code', who = '', isMyResponder = true, iAmResponder = false } = draft(form)
  const isCode = by === 'code'
  const problem = problemOf(form)
  const isAboutRoles = problem?.code === 'roleRequired' || ['isMyResponder', 'iAmResponder'].includes(problem?.field)
  return h('div', { class: 'add', onkeydown: (event) => { if (event.key === 'Enter' && event.target.id === 'add-who') submit(event) } },
    choices(t`Add by`, { code: t`Code`, handle: t`Handle` }, by, (next) => { found = undefined; setProblem(form); setDraft(form, { by: next, who: '' }) }),
    field(isCode ? t`Their code` : t`Their handle`, {
      id: 'add-who', value: who, autocapitalize: 'none', autocomplete: 'off', spellcheck: 'false',
      oninput: (event) => { setProblem(form); setDraft(form, { who: event.target.value }); if (isCode) lookUp(event.target.value) },
    }, {
      hint: isCode ? (found ? t`This is ${found.name}’s code.` : t`Paste the code or the link from their QR code.`) : t`They are asked first.`,
      problem: problem && !isAboutRoles && wordsOf(problem, isCode),
    }),
    h('fieldset', {}, h('legend', {}, t`Roles`),
      toggle(t`They look after me`, isMyResponder, (isOn) => setDraft(form, { isMyResponder: isOn }), { hint: t`They are told when you miss a check-in` }),
      toggle(t`I look after them`, iAmResponder, (isOn) => setDraft(form, { iAmResponder: isOn }), { hint: `${t`You are told when they miss one.`} ${responderConsent()}` }),
      isAboutRoles && refusal(form)),
    button(isCode ? t`Add` : t`Send request`, submit, { kind: 'primary-quiet', disabled: !who.trim() || !(isMyResponder || iAmResponder) }))
}

/** One's own code, to be scanned or copied. */
export function ownCode() {
  const { code } = model.replica?.contacts ?? {}
  if (!code) return h('p', { class: 'hint' }, t`Your code isn’t ready yet.`)
  const link = `${location.origin}/contacts#add=${code}`
  return h('div', { class: 'own-code' },
    qr(link),
    h('p', { class: 'hint' }, t`Let somebody scan this, or send them the code. Showing it means that you agree to be added.`),
    h('code', { class: 'code' }, code),
    button(t`Copy the link`, () => copy(link, 'link')), refusal('link'))
}
