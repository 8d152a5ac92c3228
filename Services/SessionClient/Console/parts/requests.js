/** Requests that wait for an answer: to become contacts, and to look after somebody. */
import { h } from '../core/view.js'
import { model } from '../core/model.js'
import { ago } from '../core/time.js'
import { act } from '../core/actions.js'
import { responderConsent } from '../core/words.js'
import { askerName, personName } from './names.js'
import { button, portrait, refusal } from './pieces.js'

const wish = ({ isMyResponder, iAmResponder }) =>
  isMyResponder && iAmResponder ? 'wants to look after each other' : isMyResponder ? 'wants to look after you' : 'asks you to look after them'

const placeOf = (account) => `request-${account}`

export function requestCard(request) {
  const { account, direction, requested, isMyResponder, iAmResponder } = request
  if (direction === 'outgoing') {
    return h('li', { key: account, class: 'line' },
      h('span', {}, h('strong', {}, 'You asked somebody'), h('small', {}, `${ago(requested)}; no answer yet`), refusal(placeOf(account))),
      button('Withdraw', () => act('WithdrawContactRequest', { contact: account }, 'Withdrawn', placeOf(account)), { kind: 'small' }))
  }
  const name = askerName(account) ?? 'Somebody'
  return h('li', { key: account, class: 'line wraps' },
    portrait(account, name),
    h('span', {}, h('strong', {}, name), h('small', {}, wish({ isMyResponder, iAmResponder })),
      iAmResponder && h('small', {}, responderConsent), refusal(placeOf(account))),
    h('span', { class: 'actions' },
      button('Decline', () => act('DeclineContactRequest', { contact: account }, 'Declined', placeOf(account)), { kind: 'small' }),
      button('Accept', () => act('ApproveContactRequest', { contact: account, isMyResponder, iAmResponder }, 'Accepted', placeOf(account)), { kind: 'small primary' })))
}

export function roleRequestCard({ contact }) {
  const { account } = contact
  const person = model.replica.people.get(account)
  return h('li', { key: account, class: 'line wraps' },
    portrait(account, personName(account), person?.avatar),
    h('span', {}, h('strong', {}, personName(account)), h('small', {}, 'would see your check-ins and alerts'), refusal(placeOf(account))),
    h('span', { class: 'actions' },
      button('Decline', () => act('DeclineRoleChange', { contact: account }, 'Declined', placeOf(account)), { kind: 'small' }),
      button('Accept', () => act('AcceptRoleChange', { contact: account }, 'Accepted', placeOf(account)), { kind: 'small primary' })))
}
