/** What to call an account, whoever it belongs to. */
import { t } from '../core/language.js'
import { model, changed } from '../core/model.js'
import { read } from '../net/api.js'

/** People who asked to become contacts, by account: the stream has no names of those who aren't contacts yet. */
const askers = new Map()

/** The name to show: one's own for a contact first. */
export const personName = (account) => knownName(account) || t`Someone`

/** The same; nothing for somebody whose name isn't known. */
export function knownName(account) {
  const contact = model.replica?.contacts?.contacts.get(account)
  const person = model.replica?.people.get(account)
  return contact?.nickname || person?.name || person?.handle || askerName(account)
}

/** In a group session, one's own name is known from the account. */
export const inGroup = (account) =>
  account === model.account.account ? model.replica.account?.name ?? t`You` : personName(account)

/** The same in a sentence. */
export const nameIn = (account) => (account === model.account.account ? t`You` : personName(account))

/** Who wants to become a contact, once that is known. */
export function askerName(account) {
  const isAsking = model.replica?.contacts?.requests.get(account)?.direction === 'incoming'
  if (isAsking && !askers.has(account)) {
    askers.set(account, undefined)
    load()
  }
  return askers.get(account)
}

async function load() {
  try {
    for (const { account, handle, name } of (await read('/v1/contacts?limit=1')).requests) {
      if (handle) askers.set(account, name ? `${name} (@${handle})` : `@${handle}`)
    }
    changed()
  } catch {
    // The request is still shown, as somebody's; the names come with the next one.
  }
}
