/** A group session: the fold of the stream `group`, as `GroupState.swift` has it. */
import { applyToPlayback } from './playback.js'

/** Whether an account is in the session that is still going on. */
export const isIn = ({ participants, end }, account) => !end && participants.some(({ id }) => id === account)

/** The state after an event. */
export function applyToGroup(state, type, body) {
  const { account } = body
  const participant = (fields) => ({ ...state, participants: state.participants.map((one) => (one.id === account ? { ...one, ...fields } : one)) })
  const without = (list) => list.filter((one) => one.id !== account)
  const game = (fields) => ({ ...state, game: { ...state.game, version: body.version, author: account, updated: body.at, ...fields } })
  switch (type) {
    case 'GroupSessionCreated': {
      const { group, activity, capacity, seats, isOpenToContacts, at } = body
      const participants = [newcomer(account, 1, at)]
      return { group, creator: account, activity, capacity, seats, isOpenToContacts, host: account, participants, invited: [], queue: [], attachments: [], created: at }
    }
    case 'ParticipantsInvited':
      return { ...state, invited: [...state.invited.filter(({ id }) => !body.invited.includes(id)), ...body.invited.map((id) => ({ id, at: body.at }))] }
    case 'InvitationWithdrawn': return { ...state, invited: without(state.invited) }
    case 'ParticipantJoined':
      return {
        ...state, invited: without(state.invited), host: body.isHost ? account : state.host,
        participants: [...without(state.participants), newcomer(account, body.ordinal, body.at)],
      }
    case 'ParticipantUpdated': return participant({ version: body.version })
    case 'ParticipantDisconnected': return participant({ awaySince: body.since })
    case 'ParticipantConnected': return participant({ awaySince: undefined })
    case 'ParticipantLeft': return { ...state, participants: without(state.participants), host: body.host }
    case 'HostTransferred': return { ...state, host: account }
    case 'GroupSessionEnded':
      return {
        ...state, participants: [], invited: [], host: undefined, game: undefined, playback: undefined, queue: [], attachments: [],
        end: { reason: body.reason, at: body.at },
      }
    case 'SeatClaimed': case 'SeatMoved': return participant({ seat: body.seat })
    case 'SeatReleased': return participant({ seat: undefined })
    case 'GameStarted':
      return game({ number: body.number, starts: body.starts, turnField: body.turnField, state: body.state, finished: undefined })
    case 'GameUpdated': return game({ state: body.patch ? merged(body.state ?? state.game.state, body.patch) : body.state })
    case 'GameFinished': return game({ finished: body.at })
    case 'AttachmentAdded': {
      const { attachment: id, name, contentType, size, at: added, metadata } = body
      return { ...state, attachments: [...state.attachments.filter((one) => one.id !== id), { id, account, name, contentType, size, added, metadata }] }
    }
    case 'AttachmentRemoved': return { ...state, attachments: state.attachments.filter((one) => one.id !== body.attachment) }
    default: return applyToPlayback(state, type, body)
  }
}

const newcomer = (id, ordinal, joined) => ({ id, ordinal, joined, version: 0, isReady: false })

/** A JSON merge patch (RFC 7396). */
function merged(value, patch) {
  if (patch === null || typeof patch !== 'object' || Array.isArray(patch)) return patch
  const result = value !== null && typeof value === 'object' && !Array.isArray(value) ? { ...value } : {}
  for (const [name, change] of Object.entries(patch)) {
    if (change === null) delete result[name]
    else result[name] = merged(result[name], change)
  }
  return result
}
