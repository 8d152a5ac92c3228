/** What a group session plays: the fold of its events, as `PlaybackEvents.swift` has it, and where in it everybody is. */

/** The state of the session after an event. */
export function applyToPlayback(state, type, body) {
  const { account, playback } = body
  const participant = (fields) => state.participants.map((one) => (one.id === account ? { ...one, ...fields } : one))
  switch (type) {
    case 'PlaybackSet': return { ...state, playback }
    case 'ItemStarted': return { ...state, playback, queue: state.queue.filter((one) => one.id !== playback.item?.id) }
    case 'QueueItemsInserted': return { ...state, queue: inserted(state.queue, body.items, body.after) }
    case 'QueueItemMoved': {
      const items = state.queue.filter((one) => one.id === body.item)
      return { ...state, queue: inserted(state.queue.filter((one) => one.id !== body.item), items, body.after) }
    }
    case 'QueueItemsRemoved': return { ...state, queue: state.queue.filter((one) => !body.items.includes(one.id)) }
    case 'ReadinessDeclared': return { ...state, participants: participant({ isReady: true }) }
    case 'SuspensionBegan': return { ...state, playback, participants: participant({ suspension: body.suspension }) }
    case 'SuspensionEnded': {
      const isReady = ['ended', 'crowded'].includes(body.reason) ? {} : { isReady: false }
      return { ...state, playback, participants: participant({ suspension: undefined, ...isReady }) }
    }
    default: return state
  }
}

function inserted(queue, items, after) {
  const place = queue.findIndex((one) => one.id === after) + 1
  return [...queue.slice(0, place), ...items, ...queue.slice(place)]
}

/** Of an item without an end, such as a live stream: 30 days, as the server has it. */
const longest = 30 * 24 * 3600 * 1_000_000

/** Where in the item everybody is at a time at the server, in microseconds. */
export function positionOf({ item, isPlaying, isWaiting, rate, position, anchor }, at) {
  const isMoving = isPlaying && !isWaiting && item && at > anchor
  return Math.min(isMoving ? position + rate * (at - anchor) : position, item?.duration ?? longest)
}

/** Whether the item is over. */
export const isOver = (playback, at) => playback.item?.duration !== undefined && positionOf(playback, at) >= playback.item.duration

/** What is shown while commands are on their way: what they will do, as if nobody else did anything (P23). */
export const withPending = (playback, entries) => entries.reduce((shown, { path, fields, created }) => {
  switch (path.split('/').at(-1)) {
    case 'SetPlayback':
      if (shown?.item?.id !== fields.expectedItem) return shown
      return {
        ...shown, position: fields.position ?? positionOf(shown, created), anchor: created, rate: fields.rate ?? shown.rate,
        isPlaying: fields.isPlaying ?? shown.isPlaying,
      }
    case 'PlayItem': return { rate: 1, ...shown, item: fields.item, isPlaying: true, position: 0, anchor: created }
    default: return shown
  }
}, playback)
