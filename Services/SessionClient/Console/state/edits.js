/**
 * Edits that are shown before the server decided them. An edit knows the fields that it changes and what they were
 * (`base`), so it can be put on top of whatever the server publishes in the meantime, and a conflict is noticed field
 * by field.
 */
import { t } from '../core/language.js'
import { Problem } from '../net/http.js'

const contact = '/v1/commands/UpdateContact'
const profile = '/v1/commands/UpdateProfile'

/** Where the thing that an edit changes is read. */
export const placeOf = ({ path, fields }) => (path === contact ? `/v1/contacts/${fields.contact}` : '/v1/account')

/** The thing that an edit changes, as the server published it last. */
function target(entry, replica) {
  if (entry.current) return { ...entry.current, version: entry.current.version ?? entry.current.profileVersion }
  if (entry.path === contact) return replica?.contacts?.contacts.get(entry.fields.contact)
  const account = replica?.account
  return account && { ...account, version: account.profileVersion }
}

/** What is sent for an entry: the same as before if it was sent before. A conflict is a problem. */
export function rebased(entry, replica) {
  if (entry.body) return entry.body
  if (!entry.base) return entry.fields
  const current = target(entry, replica)
  if (!current) return { ...entry.fields, expectedVersion: entry.base.version }
  const conflict = Object.keys(entry.fields).find((field) =>
    field in entry.base && current[field] !== entry.base[field] && current[field] !== entry.fields[field])
  if (conflict) {
    return new Problem(409, {
      code: 'conflict', field: conflict, current,
      detail: t`It was changed elsewhere in the meantime, to “${current[conflict] ?? ''}”.`,
    })
  }
  return { ...entry.fields, expectedVersion: current.version }
}

const isOpen = (entry) => entry.state !== 'refused'

/** A contact with the edits that are on their way. */
export function editedContact(one, outbox) {
  return outbox.filter((entry) => entry.path === contact && entry.fields.contact === one.account && isOpen(entry))
    .reduce((edited, { fields }) => ({ ...edited, ...fields, account: one.account, isSaving: true }), one)
}

/** The account with the edits of the profile that are on their way. */
export function editedAccount(account, outbox) {
  return outbox.filter((entry) => entry.path === profile && isOpen(entry))
    .reduce((edited, { fields }) => ({ ...edited, ...fields, isSaving: true }), account)
}

/** The newest edit of a contact, or of the profile: to say how it stands. */
export const editOf = (account, outbox) =>
  outbox.findLast((entry) => entry.base && (account ? entry.fields.contact === account : entry.path === profile))
