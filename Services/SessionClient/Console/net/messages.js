/** The messages of a group session: those that the stream brought, and those from before, which are read once. */
import { model, changed } from '../core/model.js'
import { ask, read } from './api.js'

/** What was read, by account and session: `{begun, list, isLoading, hasFailed}`. */
const histories = new Map()
/** Of how many sessions they are kept: more than one is in at a time. */
const historiesKept = 16

/** The messages as far as they are known, the oldest first; begins to read those that are missing. */
export function messagesOf(group) {
  const heard = model.replica.messages.get(group)
  if (!heard) return { list: [], isLoading: true }
  const name = `${model.account.account}/${group}`
  let history = histories.get(name)
  if (history?.begun !== heard.begun) {
    history = { list: [], ...history, begun: heard.begun, isLoading: true, hasFailed: false }
    histories.delete(name)
    histories.set(name, history)
    if (histories.size > historiesKept) histories.delete(histories.keys().next().value)
    load(group, history)
  }
  const last = history.list.at(-1)?.number ?? 0
  const list = history.isLoading ? history.list : [...history.list, ...heard.list.filter(({ number }) => number > last)]
  return { list, isLoading: history.isLoading, hasFailed: history.hasFailed, retry: () => load(group, history) }
}

async function load(group, history) {
  Object.assign(history, { isLoading: true, hasFailed: false })
  try {
    let next = history.list.at(-1)?.number ?? 0
    while (next !== undefined) {
      const page = await read(`/v1/groups/${group}/messages?limit=100&after=${encodeURIComponent(next)}`)
      history.list = [...history.list, ...page.messages]
      next = page.next
      changed()
    }
  } catch {
    history.hasFailed = true
  }
  history.isLoading = false
  changed()
}

/** Sends something that needn't arrive. */
export const signal = (group, topic, data) =>
  ask('POST', `/v1/groups/${group}/signals`, { body: { topic, data } }).catch(() => {})
