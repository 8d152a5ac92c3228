/** Recovery codes, which are shown once. */
import { h } from '../core/view.js'
import { t } from '../core/language.js'
import { model } from '../core/model.js'
import { newKey } from '../core/time.js'
import { attempt } from '../core/actions.js'
import { ask } from '../net/api.js'
import { Problem } from '../net/http.js'
import { retryOf } from '../net/retries.js'
import { confirm, open } from './dialogs.js'
import { copy, saveAs } from './keeping.js'
import { button, refusal } from './pieces.js'

/** By account: if the answer is lost, the same request gets the same codes. */
const keys = new Map()

export async function makeCodes() {
  const { account, handle } = model.account
  const reply = await attempt(() => request(account), undefined, { at: 'codes', isKept: false })
  if (reply) await show(reply.recoveryCodes, handle)
}

async function request(account) {
  const key = keys.get(account) ?? newKey()
  keys.set(account, key)
  try {
    const { body } = await ask('POST', '/v1/recovery-codes', { body: {}, key })
    keys.delete(account)
    return body
  } catch (error) {
    if (error instanceof Problem && retryOf(error.code) !== 'sameKey') keys.delete(account)
    throw error
  }
}

const stay = (event) => event.preventDefault()

/** Shows codes until their person says that they have them: neither Escape nor leaving the page loses them by accident. */
const show = (codes, handle) => open((close, id) => [
  h('h2', { id, mount: () => { addEventListener('beforeunload', stay); return () => removeEventListener('beforeunload', stay) } }, t`Your recovery codes`),
  h('p', {}, t`Keep them where you find them without this device: they are shown only now. Each works once. Earlier codes no longer work.`),
  h('ul', { class: 'codes' }, codes.map((code) => h('li', { key: code }, h('code', {}, code)))),
  refusal('keeping'),
  h('div', { class: 'actions' },
    button(t`Copy`, () => copy(codes.join('\n'), 'keeping')), button(t`Download`, () => saveAs(fileOf(codes, handle), 'quartet-recovery-codes.txt')),
    button(t`Print`, () => print()), button(t`I kept them`, () => close(true), { kind: 'primary' })),
], () => confirm({ title: t`Have you kept them?`, text: t`They can’t be shown again, and earlier ones no longer work.`, action: t`I kept them`, kind: 'primary' }))

const fileOf = (codes, handle) =>
  new Blob([`${t`Recovery codes of @${handle} for Quartet, each for one use:`}\n\n${codes.join('\n')}\n`], { type: 'text/plain' })
