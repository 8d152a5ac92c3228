/**
 * What an account's tab showed while it was connected, so that the page can show it without a network, with its age. It is sealed as
 * tokens are (net/vault.js says against whom), and gone once the account is signed out or forgotten here. Group sessions aren't in it:
 * they go on without those who aren't there.
 */
import { get, keysOf, putBeside, remove } from './database.js'
import { sealText, unsealText } from './vault.js'
import { day, now } from '../core/time.js'
import { emptyReplica } from '../state/replica.js'

/** In the store of keys: a store of its own would need a version of the database that tabs of earlier releases can't open. */
const nameOf = (account) => `copy-${account}`

const parts = ['account', 'contacts', 'notifications', 'operations', 'people']

/** JSON has no maps. */
const plain = (_, value) => (value instanceof Map ? { '=map': [...value] } : value)
const lively = (_, value) => (value?.['=map'] ? new Map(value['=map']) : value)

/**
 * Keeps a copy of what is known now, unless the account was signed out meanwhile.
 * @param {number} at the server's time
 */
export async function keep(account, replica, at) {
  const text = JSON.stringify(Object.fromEntries(parts.map((part) => [part, replica[part]])), plain)
  const value = { at, sealed: await sealText(text) }
  await putBeside('keys', nameOf(account), value, 'accounts', account, (record, stored) =>
    // A tab that was frozen is late.
    record && !record.signedOut && !(stored?.at > at))
}

/** What a copy had, with what the stream has brought in its place. Changes the copy's people: there may be thousands. */
export function completed(copy, replica, event) {
  const { people } = copy
  if (event?.event === 'person') people.set(event.data.account, event.data)
  else if (event?.event === 'person.ended') people.delete(event.data.account)
  else if (!event) for (const [account, person] of replica?.people ?? []) people.set(account, person)
  const brought = Object.fromEntries(Object.entries(replica ?? {}).filter(([, value]) => value !== undefined))
  return { ...copy, ...brought, people }
}

/** Anything older is of no use. */
const lifetime = 7 * day

/** The copy: `{at, replica}`; undefined if there is none that can be read, or only an old one. */
export async function keptOf(account) {
  try {
    const { at, sealed } = await get('keys', nameOf(account))
    if (at < now() - lifetime) return void await forgetKept(account)
    return { at, replica: { ...emptyReplica(), ...JSON.parse(await unsealText(sealed), lively) } }
  } catch {
    return undefined
  }
}

export const forgetKept = (account) => remove('keys', nameOf(account))

/** Forgets the copies of all others than these accounts. */
export async function keepOnly(accounts) {
  const names = accounts.map(nameOf)
  for (const name of await keysOf('keys')) if (name.startsWith('copy-') && !names.includes(name)) await remove('keys', name)
}
