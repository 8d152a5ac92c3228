/** Devices, the password, the phone, and closing the account. */
import { h } from '../core/view.js'
import { plural, t } from '../core/language.js'
import { model, changed } from '../core/model.js'
import { ago, moment, newKey } from '../core/time.js'
import { act, askNow, confirmed, operate } from '../core/actions.js'
import { toast } from '../core/toasts.js'
import { forget } from '../net/accounts.js'
import { ask } from '../net/api.js'
import { Problem, Unreachable } from '../net/http.js'
import { setProblem } from '../core/problems.js'
import { confirm, open } from './dialogs.js'
import { badge, button, field, refusal, refusals, toggle } from './pieces.js'
import { makeCodes } from './recovery-codes.js'

export function devices({ devices }) {
  const list = devices.toSorted((left, right) => right.lastSeen - left.lastSeen)
  const others = list.filter(({ id }) => id !== model.account.device)
  const lead = (element) => { if (location.hash === '#devices') element.scrollIntoView() }
  return h('section', { class: 'card', 'aria-labelledby': 'devices-title', mount: lead },
    h('h2', { id: 'devices-title' }, t`Devices`),
    h('ul', { class: 'plain' }, list.map(({ id, name, signedIn, lastSeen }) =>
      h('li', { key: id, class: 'line' },
        h('span', {}, h('strong', {}, name), h('small', {}, t`signed in ${moment(signedIn)}, last seen ${ago(lastSeen)}`)),
        id === model.account.device ? badge(t`this one`)
          : button(t`Sign out`, () => askNow('POST', '/v1/sign-out', { body: { device: id } }, t`Signed out`, 'devices'), { kind: 'small', 'aria-label': t`Sign out ${name}` })))),
    refusal('devices'),
    h('div', { class: 'actions' },
      others.length > 0 && button(t`Sign out everywhere`, signOutEverywhere, { kind: 'link' }),
      button(t`Sign out`, signOut)))
}

async function signOut() {
  const waiting = model.outbox.filter((entry) => entry.state === 'waiting').length + model.uploads.length
  if (waiting && !(await confirm({ title: t`Sign out now?`, text: plural(waiting, t`${waiting} change or file wasn’t sent yet and would be lost.`, t`${waiting} changes or files weren’t sent yet and would be lost.`), action: t`Sign out` }))) return
  await leave({})
}

async function signOutEverywhere() {
  if (await confirm({ title: t`Sign out everywhere?`, text: t`All your devices are signed out at once, this one too.`, action: t`Sign out everywhere` })) await leave({ everywhere: true })
}

/** Signs out at the server, then forgets what this browser keeps. Without the server, tokens would stay valid: it says so. */
async function leave(body) {
  const { account } = model.account
  try {
    await ask('POST', '/v1/sign-out', { body })
  } catch (error) {
    if (error instanceof Unreachable) return setProblem('devices', new Error(t`The server can’t be reached, so this device stays signed in.`))
    if (error instanceof Problem && error.status !== 401) return setProblem('devices', error)
  }
  await forget(account)
}

export function security({ isSingleDevice, isConfirmationRequired, recoveryCodes, phone }) {
  return h('section', { class: 'card', 'aria-labelledby': 'security-title' },
    h('h2', { id: 'security-title' }, t`Security`),
    h('p', { class: 'line wraps' }, h('span', {}, h('strong', {}, t`Phone`), h('small', {}, phone ? phone.number : t`None: with one, you can sign in without the password`)),
      h('span', { class: 'actions' },
        phone && button(t`Remove the phone`, () => act('RemovePhone', {}, t`Phone removed`, 'phone'), { kind: 'small' }),
        button(phone ? t`Change the phone` : t`Add a phone`, changePhone, { kind: 'small' }))),
    refusal('phone'),
    toggle(t`One device at a time`, isSingleDevice, (isOn) => act('UpdateSecurity', { isSingleDevice: isOn }, undefined, 'security'), { hint: t`Signing in signs all other devices out` }),
    toggle(t`Confirm before signing others out`, isConfirmationRequired, (isOn) => act('UpdateSecurity', { isConfirmationRequired: isOn }, undefined, 'security'), { hint: t`Your password is asked for before a device is signed out` }),
    refusal('security'),
    h('p', { class: 'line' }, h('span', {}, h('strong', {}, t`Recovery codes`), h('small', {}, recoveryCodes ? t`${recoveryCodes} left` : t`None: make some, in case you forget the password`)),
      button(t`Make new codes`, makeCodes, { kind: 'small' })),
    refusal('codes'),
    h('div', { class: 'actions' }, button(t`Change the password`, changePassword), button(t`Close the account`, closeAccount, { kind: 'danger-quiet' })),
    refusal('closing'))
}

export function changePassword() {
  const state = { password: '', newPassword: '', problem: undefined, isBusy: false }
  const input = (name) => (event) => { state[name] = event.target.value; changed() }
  return open((close, id) => {
    const submit = async (event) => {
      event.preventDefault()
      Object.assign(state, { problem: undefined, isBusy: true })
      changed()
      try {
        await ask('POST', '/v1/change-password', { body: { password: state.password, newPassword: state.newPassword } })
        toast(t`Password changed; other devices are signed out`, 'good')
        close(true)
      } catch (error) {
        Object.assign(state, { problem: error, isBusy: false })
        changed()
      }
    }
    const { at, rest } = refusals(state.problem)
    return h('form', { onsubmit: submit },
      h('h2', { id }, t`Change the password`),
      field(t`Current password`, { id: 'password', type: 'password', autocomplete: 'current-password', required: true, value: state.password, oninput: input('password') }, { problem: at('password') }),
      field(t`New password`, { id: 'new-password', type: 'password', autocomplete: 'new-password', required: true, minlength: 10, value: state.newPassword, oninput: input('newPassword') }, { hint: t`At least 10 characters`, problem: at('newPassword') }),
      rest(),
      h('div', { class: 'actions' }, button(t`Cancel`, () => close()), h('button', { class: 'button primary', disabled: state.isBusy }, state.isBusy ? t`One moment…` : t`Change`)))
  })
}

/** A code that is sent to the phone proves that it is there. */
function changePhone() {
  const state = { phone: '', code: '', phoneCode: undefined, problem: undefined }
  const input = (name) => (event) => { state[name] = event.target.value; changed() }
  return open((close, id) => {
    const submit = async (event) => {
      event.preventDefault()
      state.problem = undefined
      const body = state.phoneCode ? { phoneCode: state.phoneCode, code: state.code } : { phone: state.phone.trim() }
      try {
        const { body: reply } = await confirmed(() => ask('POST', state.phoneCode ? '/v1/phone/verification' : '/v1/phone', { body, key: newKey() }))
        if (state.phoneCode) { toast(t`Phone changed`, 'good'); return close(true) }
        state.phoneCode = reply.phoneCode
      } catch (error) {
        state.problem = error
      }
      changed()
    }
    const problem = state.problem?.message
    return h('form', { onsubmit: submit },
      h('h2', { id }, t`Your phone`),
      state.phoneCode
        ? field(t`Code`, { id: 'phone-code', inputmode: 'numeric', autocomplete: 'one-time-code', required: true, maxlength: 6, value: state.code, oninput: input('code') }, { hint: t`Six digits, sent to ${state.phone}`, problem })
        : field(t`Phone`, { id: 'phone', type: 'tel', autocomplete: 'tel', required: true, value: state.phone, oninput: input('phone') }, { hint: t`With the country, such as +49 30 123456`, problem }),
      h('div', { class: 'actions' }, button(t`Cancel`, () => close()), h('button', { class: 'button primary' }, state.phoneCode ? t`Confirm` : t`Send a code`)))
  })
}

async function closeAccount() {
  const { account } = model.account
  const isSure = await confirm({
    title: t`Close the account for good?`, action: t`Close the account`,
    text: t`Everything about you is deleted, and your contacts no longer see you. This can’t be undone.`,
  })
  if (isSure && await operate('CloseAccount', {}, undefined, 'closing')) await forget(account)
}
