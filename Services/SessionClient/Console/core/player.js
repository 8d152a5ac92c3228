/** What a person does with the player, in whichever tab. */
import { t } from './language.js'
import { model, changed } from './model.js'
import { now } from './time.js'
import { act, attempt, command } from './actions.js'
import { keepTime } from '../net/server-clock.js'
import { identifier, isAlone, playerOf } from '../state/player.js'
import { isOver, positionOf } from '../state/playback.js'

export const player = () => playerOf(model.replica, model.outbox)

const itemOf = ({ content, title, duration }) => ({ id: crypto.randomUUID(), content, title, duration })

/** Begins a listening session; returns its id. */
async function begin(capacity) {
  const activity = { identifier, title: t`Listening`, type: 'listenTogether' }
  const reply = await attempt(() => command('CreateGroupSession', { activity, capacity, seats: 0, isOpenToContacts: capacity > 1 }))
  return reply?.result?.group
}

/** The listening session that there is, or a new one for one's own devices. */
const open = async () => player()?.group ?? begin(1)

export async function play(track) {
  const group = await open()
  if (group) await act('PlayItem', { group, item: itemOf(track), expectedItem: player()?.playback?.item?.id })
}

export async function enqueue(track) {
  const group = await open()
  if (group) await act('QueueInsert', { group, items: [itemOf(track)] }, t`Added to the queue`)
}

export const dequeue = (id) => act('QueueRemove', { group: player().group, items: [id] })

/** Changes what plays: `isPlaying`, `position`, `rate`. */
function set(fields) {
  const { group, playback } = player()
  return act('SetPlayback', { group, expectedItem: playback.item.id, ...fields })
}

export const playOrPause = () => set({ isPlaying: !player().playback.isPlaying })
export const seek = (position) => set({ position: Math.round(position) })
export const skip = (distance) => seek(Math.max(0, positionOf(player().playback, now()) + distance))
export const next = () => act('NextItem', { group: player().group, expectedItem: player().playback.item?.id })

/** How many may listen together. */
const others = 8

/** Lets contacts listen along, or no longer: what plays goes on in a new session. */
export async function share(isShared) {
  const { group, host, playback, queue } = player()
  const position = playback?.item && Math.round(positionOf(playback, now()))
  const isDone = await attempt(() => command(host === model.account.account ? 'EndGroupSession' : 'LeaveGroupSession', { group }))
  const next = isDone && await begin(isShared ? others : 1)
  if (next && playback?.item) await act('PlayItem', { group: next, item: playback.item, position, isPlaying: playback.isPlaying })
  if (next && queue.length) await act('QueueInsert', { group: next, items: queue.slice(0, 25) })
}

/** Ends one's own listening session, to join another's. */
export async function makeRoom() {
  const session = player()
  if (!session) return
  await attempt(() => command(isAlone(session) ? 'EndGroupSession' : 'LeaveGroupSession', { group: session.group }))
}

/** The items whose end this tab has seen. */
const ended = new Set()
/** One tab of an account goes on to the next item: the one that holds a Web Lock. */
let asksFor
let leadsFor

/** Called every second: keeps the time exact while something plays, and goes on at an item's end. */
export function followPlayer() {
  const session = player()
  if (!session?.playback?.isPlaying || model.connection.name !== 'connected') return
  keepTime()
  const { account } = model.account
  if (asksFor !== account) {
    asksFor = account
    navigator.locks.request(`quartet-player-${account}`, () => { leadsFor = account; return new Promise(() => {}) })
  }
  const { id } = session.playback.item ?? {}
  if (id && leadsFor === account && isOver(session.playback, now()) && !ended.has(id)) {
    ended.add(id)
    // Whoever is first: the others are refused, and that is all right.
    command('NextItem', { group: session.group, expectedItem: id }).catch(() => {})
  }
}

/** Shows the whole player, or only the bar. In the history, so that Back closes it. */
export function showPlayer(isShown) {
  if (isShown) history.pushState({ isSheet: true }, '', '#player')
  else if (history.state?.isSheet) return history.back()
  else history.replaceState(null, '', location.pathname)
  model.isPlayerShown = isShown
  changed()
}
