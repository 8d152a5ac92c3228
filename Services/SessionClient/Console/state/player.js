/**
 * The player that all tabs and windows of a person share: what plays in their listening session. That is a group session
 * of its own kind: with a capacity of 1 it is for one's own devices alone, otherwise others may listen along.
 */
import { isIn } from './group.js'
import { withPending } from './playback.js'

/** The activity's identifier. An account is in one session of it at a time. */
export const identifier = 'quartet.listen'

export const isListening = ({ activity }) => activity?.identifier === identifier

/** Whether nobody else can be in it. */
export const isAlone = ({ capacity }) => capacity === 1

/** The listening session, as it will be when the commands that are on their way have arrived; undefined if there is none. */
export function playerOf(replica, outbox) {
  const session = [...(replica?.group.values() ?? [])].find((state) => isListening(state) && isIn(state, replica.account?.account))
  if (!session) return undefined
  const entries = outbox.filter(({ fields, state }) => fields.group === session.group && state !== 'refused')
  const removed = entries.filter(({ path }) => path.endsWith('/QueueRemove')).flatMap(({ fields }) => fields.items)
  const queue = session.queue.filter(({ id }) => !removed.includes(id))
  return { ...session, queue, playback: withPending(session.playback, entries) }
}
