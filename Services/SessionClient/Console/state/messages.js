/** What the messages of a group session amount to. Pure functions of the list of messages, the oldest first. */

/** Kinds that are better sent as signals: as messages they are for machines. */
const silent = ['typing', 'cursor']

/**
 * The lines of a conversation: `{lines, reactions}`. Reactions to a message are no lines: they are by its number, as
 * `[{emoji, accounts}]`.
 */
export function spoken(list) {
  const reactions = new Map()
  const lines = []
  for (const message of list) {
    const { type, data, account } = message
    if (type === 'reaction' && data.message) {
      const those = reactions.get(data.message) ?? []
      const same = those.find(({ emoji }) => emoji === data.emoji)
      if (!same) those.push({ emoji: data.emoji, accounts: [account] })
      else if (!same.accounts.includes(account)) same.accounts.push(account)
      reactions.set(data.message, those)
    } else if (!silent.includes(type)) {
      lines.push(message)
    }
  }
  return { lines, reactions }
}

/** Who said last that they are ready. */
export function readyOnes(list) {
  const ready = new Set()
  for (const { type, data, account } of list) if (type === 'ready') ready[data.isReady ? 'add' : 'delete'](account)
  return ready
}

/** How many points each account has. */
export function scores(list) {
  const points = new Map()
  for (const { type, data, account } of list) {
    const owner = data?.participant ?? account
    if (type === 'score') points.set(owner, (points.get(owner) ?? 0) + data.points)
  }
  return points
}
