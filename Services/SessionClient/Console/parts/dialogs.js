/** Dialogs that answer a question. They are part of the model, so they stay whatever the connection does. */
import { h } from '../core/view.js'
import { t } from '../core/language.js'
import { model, changed } from '../core/model.js'
import { ask } from '../net/api.js'
import { button, field } from './pieces.js'

let count = 0

/**
 * Opens a dialog; resolves with what closes it, undefined if it was cancelled.
 * @param {function} view describes the inside, given `close(value)`
 * @param {function} [mayCancel] asked before Escape closes it
 */
export function open(view, mayCancel = () => true) {
  return new Promise((resolve) => {
    const dialog = { key: `dialog-${(count += 1)}`, view }
    dialog.cancel = async () => {
      if (dialog.isAsking) return
      dialog.isAsking = true
      if (await mayCancel()) dialog.close()
      dialog.isAsking = false
    }
    dialog.close = (value) => {
      model.dialogs = model.dialogs.filter((other) => other !== dialog)
      changed()
      resolve(value)
    }
    model.dialogs = [...model.dialogs, dialog]
    changed()
  })
}

export const dialogs = () => model.dialogs.map((dialog) =>
  h('dialog', {
    key: dialog.key, class: 'dialog', 'aria-labelledby': `${dialog.key}-title`,
    mount: (element) => {
      element.showModal()
      // Gives the focus back.
      return () => element.close()
    },
    oncancel: (event) => { event.preventDefault(); dialog.cancel() },
    // Browsers let no page keep a dialog open against somebody who insists: it is opened again, and asks.
    onclose: ({ target }) => {
      if (!model.dialogs.includes(dialog)) return
      target.showModal()
      dialog.cancel()
    },
  }, dialog.view(dialog.close, `${dialog.key}-title`)))

/** Asks before something that can't be undone. What is a function is asked again whenever something changes. */
export const confirm = ({ title, text, action, kind = 'danger' }) =>
  open((close, id) => [
    h('h2', { id }, title), h('p', {}, now(text)),
    h('div', { class: 'actions' },
      button(t`Cancel`, () => close(false)), button(now(action), () => close(true), { kind })),
  ])

const now = (text) => (typeof text === 'function' ? text() : text)

/** Asks for the password (or a recovery code), which confirms what follows for some minutes. */
export function confirmIdentity(reason) {
  const state = { secret: '', problem: undefined, isRecovery: false }
  const change = (fields) => { Object.assign(state, fields); changed() }
  return open((close, id) => {
    const submit = async (event) => {
      event.preventDefault()
      change({ problem: undefined, isBusy: true })
      try {
        await ask('POST', '/v1/confirm', { body: { [state.isRecovery ? 'recoveryCode' : 'password']: state.secret } })
        close(true)
      } catch (error) {
        change({ problem: error.message, isBusy: false })
      }
    }
    return h('form', { onsubmit: submit },
      h('h2', { id }, t`Is it you?`), h('p', {}, reason),
      field(state.isRecovery ? t`Recovery code` : t`Password`, {
        id: 'confirm-secret', type: 'password', autocomplete: state.isRecovery ? 'off' : 'current-password', required: true,
        value: state.secret, oninput: (event) => change({ secret: event.target.value }), autofocus: true,
      }, { problem: state.problem }),
      button(state.isRecovery ? t`Use the password` : t`Use a recovery code`, () => change({ isRecovery: !state.isRecovery, secret: '', problem: undefined }), { kind: 'link' }),
      h('div', { class: 'actions' }, button(t`Cancel`, () => close()), h('button', { class: 'button primary', disabled: state.isBusy }, state.isBusy ? t`One moment…` : t`Confirm`)))
  })
}
