/** `/welcome`: signing in, and a wizard that makes an account: who, by what name, how often to check in, who looks after me. */
import { h } from '../core/view.js'
import { t } from '../core/language.js'
import { model, changed } from '../core/model.js'
import { go } from '../core/router.js'
import { draft, dropDraft, dropDrafts, setDraft } from '../core/drafts.js'
import { newKey } from '../core/time.js'
import { act, attempt } from '../core/actions.js'
import { problemOf } from '../core/problems.js'
import { leavesUndo } from '../core/words.js'
import { choose, signIn, undo } from '../net/accounts.js'
import { send as request, Unreachable } from '../net/http.js'
import { button, field, portrait, refusal, refusals } from '../parts/pieces.js'
import { confirm } from '../parts/dialogs.js'
import { addForm } from '../parts/adding.js'
import { intervalChoice, reminderChoice } from '../parts/check-in-settings.js'

const form = 'welcome'
/** Never a draft. */
let password = ''
/** Kept while the same request may have to be repeated. */
let key
let problem
let isBusy = false

const fields = () => draft(form)
const step = (name) => { problem = undefined; setDraft(form, { step: name }) }
const leave = () => { password = ''; dropDraft(form); go('/') }

/** The fields of the form that is drawn: a refusal is shown at its field, or below them all. */
const shown = new Set()
const problemAt = (name) => { shown.add(name); return problem?.field === name && problem.message }
const general = () => problem && !shown.has(problem.field) && h('p', { class: 'problem', role: 'alert' }, problem.message)

/** Leads to where something is wrong, or to the first field of a form that begins. */
const lead = (element) => (element.querySelector('[aria-invalid=true]') ?? element.querySelector('input, select'))?.focus()
function leadToProblem() {
  requestAnimationFrame(() => requestAnimationFrame(() => document.querySelector('main [aria-invalid=true]')?.focus()))
}

/** A text field whose content is a draft. */
const text = (label, name, props = {}, hint, refused = problemAt(name)) =>
  field(label, { id: `welcome-${name}`, value: fields()[name] ?? '', oninput: (event) => setDraft(form, { [name]: event.target.value }), ...props },
    { hint, problem: refused })

const secret = (label, autocomplete, hint) =>
  field(label, {
    id: 'welcome-password', type: 'password', autocomplete, required: true, minlength: autocomplete === 'new-password' ? 10 : undefined,
    value: password, oninput: (event) => { password = event.target.value; changed() },
  }, { hint, problem: problemAt('password') })

/** Sends a sign-up or sign-in, the same one again if its answer was lost. */
async function send(path, body, next) {
  key ??= newKey()
  isBusy = true
  changed()
  try {
    await signIn(path, { ...body, deviceName: deviceName() }, key)
    password = ''
    key = undefined
    dropDrafts('nobody')
    next()
  } catch (error) {
    problem = error
    // What is wrong with an earlier step is shown there.
    if (fields().step === 'profile' && ['handle', 'password'].includes(error.field)) setDraft(form, { step: 'account' })
    leadToProblem()
    // Only a request whose answer was lost is repeated as it was.
    if (!(error instanceof Unreachable)) key = undefined
  }
  isBusy = false
  changed()
}

/** The browser and its system, as lists of devices show it. */
function deviceName() {
  const agent = navigator.userAgent
  const browser = ['Firefox', 'Edg', 'Chrome', 'Safari'].find((name) => agent.includes(name)) ?? 'Browser'
  const system = ['Android', 'iPhone', 'Windows', 'Mac', 'Linux'].find((name) => agent.includes(name)) ?? t`unknown system`
  return t`${browser === 'Edg' ? 'Edge' : browser} on ${system}`
}

/** A step of the wizard: its number, what it asks, and the way on. */
function wizard(number, title, { next, back, cancel, label = t`Next` }, ...content) {
  const submit = (event) => { event.preventDefault(); problem = undefined; next() }
  return h('form', { class: 'card wizard', key: `step-${number}`, onsubmit: submit, mount: lead },
    h('p', { class: 'steps', role: 'img', 'aria-label': t`Step ${number} of 4` }, [1, 2, 3, 4].map((one) => h('span', { class: one <= number ? 'done' : '' }))),
    h('h1', {}, title), content, general(),
    h('div', { class: 'actions' },
      cancel && button(cancel.label ?? t`Cancel`, cancel.action ?? cancel, { kind: 'link' }),
      back && button(t`Back`, back),
      h('button', { class: 'button primary', disabled: isBusy }, isBusy ? t`One moment…` : label)))
}

const cancel = () => { password = ''; problem = undefined; dropDraft(form) }

function start() {
  const others = model.accounts.filter((one) => !one.signedOut)
  return h('section', { class: 'card welcome', key: 'start' },
    h('h1', {}, t`Somebody notices when you don’t check in`),
    h('p', {}, t`Quartet keeps a timer. Check in before it runs out; if you don’t, the people who look after you are told at once.`),
    h('div', { class: 'stack' },
      button(t`Create an account`, () => step('account'), { kind: 'primary wide' }),
      button(t`Sign in`, () => step('sign-in'), { kind: 'wide' })),
    others.length > 0 && [
      h('h2', {}, t`Signed in in this browser`),
      h('ul', { class: 'plain' }, others.map(({ account, handle }) => h('li', { key: account },
        h('button', { class: 'person-button', type: 'button', onclick: async () => { await choose(account); leave() } },
          portrait(account, handle ?? '?'), h('span', {}, `@${handle}`))))),
    ])
}

function signInForm() {
  const handle = fields().handle ?? model.account?.handle ?? ''
  const isRecovery = fields().isRecovery
  const submit = (event) => {
    event.preventDefault()
    problem = undefined
    send('/v1/sign-in', { handle, [isRecovery ? 'recoveryCode' : 'password']: password }, leave)
  }
  return h('form', { class: 'card', key: 'sign-in', onsubmit: submit, mount: lead },
    h('h1', {}, t`Sign in`),
    model.account?.signedOut && [
      h('p', { class: 'notice warning', role: 'status' }, model.account.signedOut),
      leavesUndo(model.account.why) && h('p', { class: 'line' }, h('span', {}, t`Did somebody else change something?`), button(t`This wasn’t me`, takeBack, { kind: 'small' })),
      refusal('undo'),
    ],
    text(t`Handle`, 'handle', { value: handle, autocomplete: 'username', autocapitalize: 'none', spellcheck: 'false', required: true }),
    secret(isRecovery ? t`Recovery code` : t`Password`, isRecovery ? 'off' : 'current-password'),
    general(),
    h('div', { class: 'ways' },
      button(isRecovery ? t`Use the password` : t`Use a recovery code`, () => { password = ''; problem = undefined; setDraft(form, { isRecovery: !isRecovery }) }, { kind: 'link' }),
      button(t`Use a phone`, () => step('phone'), { kind: 'link' })),
    h('div', { class: 'actions' },
      button(t`Cancel`, async () => { cancel(); if (model.account?.signedOut) await choose(undefined) }, { kind: 'link' }),
      h('button', { class: 'button primary', disabled: isBusy }, isBusy ? t`One moment…` : t`Sign in`)))
}

async function takeBack() {
  const { account } = model.account
  const isSure = await confirm({
    title: t`Take it back?`, action: t`Undo the changes`,
    text: t`The password, the phone, the settings and the recovery codes become what they were when this device was signed out, and whoever changed them is signed out. That works for three days.`,
  })
  if (isSure) await attempt(() => undo(account), undefined, { at: 'undo', isKept: false })
}

/** The code that was sent to a phone: `{phoneCode, phone}`, and its digits as far as they are typed. Never drafts. */
let sent
let digits = ''

async function sendCode() {
  const phone = fields().phone?.trim()
  isBusy = true
  problem = undefined
  changed()
  try {
    const { body } = await request('POST', '/v1/sign-in/codes', { body: { phone }, key: newKey() })
    sent = { phoneCode: body.phoneCode, phone }
    digits = ''
  } catch (error) {
    problem = error
  }
  isBusy = false
  changed()
}

function phoneForm() {
  const back = () => { sent = undefined; step('sign-in') }
  const submit = (event) => {
    event.preventDefault()
    problem = undefined
    if (!sent) return sendCode()
    send('/v1/sign-in', { ...sent, code: digits }, () => { sent = undefined; leave() })
  }
  return h('form', { class: 'card', key: 'phone', onsubmit: submit, mount: lead },
    h('h1', {}, t`Sign in by phone`),
    sent
      ? [
          h('p', { role: 'status' }, t`If somebody signs in by ${sent.phone}, a code is on its way there.`),
          field(t`Code`, {
            id: 'welcome-code', inputmode: 'numeric', autocomplete: 'one-time-code', required: true, pattern: '[0-9]{6}', maxlength: 6, value: digits,
            oninput: (event) => { digits = event.target.value; changed() },
          }, { hint: t`Six digits`, problem: problemAt('code') }),
        ]
      : text(t`Phone`, 'phone', { type: 'tel', autocomplete: 'tel', required: true }, t`With the country, such as +49 30 123456`),
    general(),
    h('div', { class: 'ways' },
      sent && button(t`Send another code`, sendCode, { kind: 'link', disabled: isBusy }),
      sent && button(t`Use another phone`, () => { sent = undefined; problem = undefined; changed() }, { kind: 'link' }),
      button(t`Use the password`, back, { kind: 'link' })),
    h('div', { class: 'actions' },
      button(t`Cancel`, () => { sent = undefined; cancel() }, { kind: 'link' }),
      h('button', { class: 'button primary', disabled: isBusy }, isBusy ? t`One moment…` : sent ? t`Sign in` : t`Send a code`)))
}

const accountStep = () => wizard(1, t`Create an account`, { next: () => step('profile'), cancel },
  text(t`Handle`, 'handle', { autocomplete: 'username', autocapitalize: 'none', spellcheck: 'false', required: true, minlength: 3, maxlength: 30 },
    t`Others find you by it: lowercase letters, digits, and . - _ in between`),
  secret(t`Password`, 'new-password', t`At least 10 characters`))

const profileStep = () => wizard(2, t`What’s your name?`, {
  next: password ? () => send('/v1/sign-up', { handle: fields().handle, password, name: fields().name?.trim() }, () => step('timer')) : () => step('account'),
  back: () => step('account'), cancel, label: t`Create account`,
}, text(t`Name`, 'name', { autocomplete: 'name', required: true, minlength: 2, maxlength: 50 }, t`Your contacts see it`))

/** For an account that was made without a name. */
function nameStep() {
  const { at, rest } = refusals(problemOf(form))
  const { profileVersion: expectedVersion } = model.replica.account
  return wizard(2, t`What’s your name?`, {
    next: async () => { if (await act('UpdateProfile', { expectedVersion, name: fields().name?.trim() }, undefined, form)) step('timer') },
  }, text(t`Name`, 'name', { autocomplete: 'name', required: true, minlength: 2, maxlength: 50 }, t`Your contacts see it`, at('name')), rest())
}

const timerStep = () => wizard(3, t`How often do you check in?`, { next: () => step('people'), cancel: { label: t`Skip`, action: leave } },
  model.replica?.account ? [intervalChoice(), reminderChoice(), refusal('interval'), refusal('reminders')] : h('p', { class: 'hint' }, t`Connecting…`))

const peopleStep = () => wizard(4, t`Who looks after you?`, { next: leave, back: () => step('timer'), label: t`Done` },
  h('p', {}, t`Add somebody by the code that they show you, or ask them by their handle. You can do this later, too.`),
  addForm())

const steps = { 'sign-in': signInForm, phone: phoneForm, account: accountStep, profile: profileStep, timer: timerStep, people: peopleStep }

export function welcome() {
  shown.clear()
  if (model.account?.signedOut) return h('div', { class: 'narrow' }, fields().step === 'phone' ? phoneForm() : signInForm())
  if (!model.isKept && model.replica?.account?.onboarding === 'needsProfile') return h('div', { class: 'narrow' }, nameStep())
  return h('div', { class: 'narrow' }, (steps[fields().step] ?? start)())
}
