/** Requests that wait for an answer: to become contacts, and to look after somebody. */
import { h } from '../core/view.js'
import { t } from '../core/language.js'
import { model } from '../core/model.js'
import { ago } from '../core/time.js'
import { act } from '../core/actions.js'
import { responderConsent } from '../core/words.js'
import { askerName, personName } from './names.js'
import { button, portrait, refusal } from './pieces.js'

const wish = ({ isMyResponder, iAmResponder }) =>
  isMyResponder && iAmResponder ? t`wants to look after each other` : isMyResponder ? t`wants to look after you` : t`asks you to look after them`

const placeOf = (account) => `request-${account}`

export function requestCard(request) {
  const { account, direction, requested, isMyResponder, iAmResponder } = request
  if (direction === 'outgoing') {
    return h('li', { key: account, class: 'line' },
      h('span', {}, h('strong', {}, t`You asked somebody`), h('small', {}, t`${ago(requested)}; no answer yet`), refusal(placeOf(account))),
      button(t`Withdraw`, () => act('WithdrawContactRequest', { contact: account }, t`Withdrawn`, placeOf(account)), { kind: 'small' }))
  }
  const name = askerName(account) ?? t`Somebody`
  return h('li', { key: account, class: 'line wraps' },
    portrait(account, name),
    h('span', {}, h('strong', {}, name), h('small', {}, wish({ isMyResponder, iAmResponder })),
      iAmResponder && h('small', {}, responderConsent()), refusal(placeOf(account))),
    h('span', { class: 'actions' },
      button(t`Decline`, () => act('DeclineContactRequest', { contact: account }, t`Declined`, placeOf(account)), { kind: 'small' }),
      button(t`Accept`, () => act('ApproveContactRequest', { contact: account, isMyResponder, iAmResponder }, t`Accepted`, placeOf(account)), { kind: 'small primary' })))
}

export function roleRequestCard({ contact }) {
  const { account } = contact
  const person = model.replica.people.get(account)
  return h('li', { key: account, class: 'line wraps' },
    portrait(account, personName(account), person?.avatar),
    h('span', {}, h('strong', {}, personName(account)), h('small', {}, t`would see your check-ins and alerts`), refusal(placeOf(account))),
    h('span', { class: 'actions' },
      button(t`Decline`, () => act('DeclineRoleChange', { contact: account }, t`Declined`, placeOf(account)), { kind: 'small' }),
      button(t`Accept`, () => act('AcceptRoleChange', { contact: account }, t`Accepted`, placeOf(account)), { kind: 'small primary' })))
}
