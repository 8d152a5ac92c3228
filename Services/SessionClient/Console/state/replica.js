/**
 * What the server published, as far as this tab has heard: the four sequences of an account and the people among its
 * contacts. It only changes by events of the stream.
 */
import { applyToAccount } from './account.js'
import { applyToContacts, contactsFrom } from './contacts.js'
import { applyToNotifications } from './notifications.js'

const streams = ['account', 'contacts', 'notifications', 'operations']
/** How many commands it remembers having seen. */
const memory = 200

export function emptyReplica() {
  return {
    lastID: undefined, begun: [], account: undefined, contacts: undefined, notifications: undefined, operations: undefined,
    people: new Map(), seen: [],
  }
}

/** Whether every sequence has begun on the present connection. */
export const isComplete = (replica) => streams.every((name) => replica.begun.includes(name))

/** A new connection begins. */
export const reconnecting = (replica) => ({ ...replica, begun: [] })

const begin = { account: (state) => state, contacts: contactsFrom, notifications: (state) => state, operations: (state) => state }
const fold = {
  account: applyToAccount, contacts: applyToContacts, notifications: applyToNotifications,
  operations: (state) => state,
}

/** The replica after an event of the stream. */
export function apply(replica, { id, event, data }) {
  const next = { ...replica, lastID: id ?? replica.lastID }
  if (event === 'person') return { ...next, people: new Map(replica.people).set(data.account, data) }
  if (event === 'person.ended') {
    const people = new Map(replica.people)
    people.delete(data.account)
    return { ...next, people }
  }
  const [name, what] = event.split('.')
  if (!streams.includes(name)) return next
  if (what === 'snapshot' || what === 'resumed') next.begun = [...replica.begun, name]
  if (what === 'snapshot') next[name] = begin[name](data.state)
  if (what === 'event' && replica[name]) {
    next[name] = fold[name](replica[name], data.type, data.body)
    if (data.command) next.seen = [...replica.seen, data.command].slice(-memory)
  }
  return next
}
