/**
 * What the server published, as far as this tab has heard: the four sequences of an account, the people that it may see,
 * the group sessions that are offered to it, and those that it is in. It only changes by events of the stream.
 */
import { applyToAccount } from './account.js'
import { applyToContacts, contactsFrom } from './contacts.js'
import { applyToGroup, isIn } from './group.js'
import { applyToNotifications } from './notifications.js'

const streams = ['account', 'contacts', 'notifications', 'operations']
/** How many commands it remembers having seen. */
const memory = 200

export function emptyReplica() {
  return {
    lastID: undefined, begun: [], account: undefined, contacts: undefined, notifications: undefined, operations: undefined,
    /** Changed in place, because there may be thousands; `peopleChanges` says that it was. */
    people: new Map(), peopleChanges: 0, seen: [],
    /** How often the stream said that nothing is on its way. */
    heartbeats: 0,
    /** The group sessions that the account is in or may join; the states of those that it is in; why others ended. */
    groups: undefined, group: new Map(), endings: new Map(),
    /** By group session: the messages that arrived since `begun`, and the newest signals by sender and topic, of those that are shown. */
    messages: new Map(), signals: new Map(),
  }
}

/** Whether every sequence has begun on the present connection. */
export const isComplete = (replica) => streams.every((name) => replica.begun.includes(name))

/** Whether there was a beginning of every sequence, on whichever connection. */
export const isWhole = (replica) => Boolean(replica) && streams.every((name) => replica[name] !== undefined)

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
  if (event === 'person' || event === 'person.ended') {
    event === 'person' ? next.people.set(data.account, data) : next.people.delete(data.account)
    next.peopleChanges += 1
    return next
  }
  if (event === 'heartbeat') return { ...next, heartbeats: replica.heartbeats + 1 }
  if (event === 'groups') return { ...next, groups: data.groups }
  if (event === 'begun') return carrying(next, data.groups)
  if (event === 'signal') return { ...next, signals: hearing(replica.signals, data) }
  if (event.startsWith('group.')) return applyOfGroup(next, event, data)
  const [name, what] = event.split('.')
  if (!streams.includes(name)) return next
  if (what === 'snapshot' || what === 'resumed') next.begun = [...replica.begun, name]
  if (what === 'snapshot') next[name] = begin[name](data.state)
  if (what === 'event' && replica[name]) {
    next[name] = fold[name](replica[name], data.type, data.body)
    next.seen = seeing(replica, data)
  }
  return next
}

/** What the connection that has just begun doesn't carry would stay as it was. */
function carrying(replica, groups) {
  const [group, messages, signals] = [replica.group, replica.messages, replica.signals].map((map) =>
    new Map([...map].filter(([id]) => groups.includes(id))))
  return { ...replica, group, messages, signals }
}

const seeing = ({ seen }, { command }) => (command ? [...seen, command].slice(-memory) : seen)

function applyOfGroup(replica, event, data) {
  const [group, endings, messages, signals] = [replica.group, replica.endings, replica.messages, replica.signals].map((map) => new Map(map))
  const known = group.get(data.group)
  switch (event) {
    case 'group.snapshot':
      group.set(data.group, data.state)
      endings.delete(data.group)
      // What was said before, or in between, is read from the history.
      messages.set(data.group, { begun: replica.lastID, list: [] })
      break
    case 'group.event':
      if (data.type === 'GroupMessageSent') messages.set(data.group, saying(messages.get(data.group), data.body, replica.lastID))
      else if (known) group.set(data.group, applyToGroup(known, data.type, data.body))
      break
    case 'group.ended':
      for (const map of [group, messages, signals]) map.delete(data.group)
      endings.set(data.group, data.reason)
      break
  }
  return { ...replica, group, endings, messages, signals, seen: event === 'group.event' ? seeing(replica, data) : replica.seen }
}

/** How many messages a replica keeps; older ones are read from the history. */
const messagesKept = 500

const saying = (heard, message, id) =>
  !heard || heard.list.length >= messagesKept ? { begun: id, list: [] } : { ...heard, list: [...heard.list, message] }

/** The topics of signals that a page shows. Others come as senders like, and would be kept for nobody. */
const topics = ['typing', 'cursor']

/** Of a sender's signals of one topic, the newest counts. */
const hearing = (signals, data) => !topics.includes(data.topic) ? signals :
  new Map(signals).set(data.group, new Map(signals.get(data.group)).set(`${data.account}/${data.topic}`, data))

/** How many group sessions one stream carries at most. */
const followedAtOnce = 8

/**
 * The group sessions that the stream has to carry: a participant is present as long as it does. The list may be ahead of a session's
 * own sequence: until that one says that the account has left, or why it is over, the copy of it would go on as it was.
 */
export function followed({ groups = [], group }, account) {
  const joined = groups.filter(({ standing }) => standing === 'joined').map((one) => one.group)
  const left = [...group.values()].filter((state) => isIn(state, account)).map((state) => state.group)
  return [...new Set([...joined, ...left])].slice(0, followedAtOnce).sort()
}
