/** `/together/{group}`: one group session: who is there, who sits where, and the game (P37). */
import { h } from '../core/view.js'
import { model } from '../core/model.js'
import { ago, now } from '../core/time.js'
import { act, attempt, command } from '../core/actions.js'
import { go } from '../core/router.js'
import { newGame } from '../state/four-in-a-row.js'
import { board } from '../parts/board.js'
import { confirm, open } from '../parts/dialogs.js'
import { personName } from '../parts/names.js'
import { badge, button, empty, portrait, toggle, waiting } from '../parts/pieces.js'

const me = () => model.account.account
const nameOf = (account) => (account === me() ? 'You' : personName(account))
const pending = (name, group) => model.outbox.find(({ path, fields, state }) => path.endsWith(`/${name}`) && fields.group === group && state !== 'refused')

const endings = {
  left: 'You left it.', removed: 'The host removed you.', dropped: 'You were away for too long.', withdrawn: 'The invitation was withdrawn.',
  ended: 'It was ended.', expired: 'Nobody was in it any more.', groupNotFound: 'It isn’t open to you.',
}

export function group({ group }) {
  if (!model.replica?.groups) return waiting()
  const state = model.replica.group.get(group)
  const ending = model.replica.endings.get(group)
  if (ending || state?.end) {
    return empty('This session is over', endings[ending ?? state.end.reason] ?? '', h('a', { class: 'button', href: '/together' }, 'All sessions'))
  }
  if (!state) {
    const isJoined = model.replica.groups.some((one) => one.group === group && one.standing === 'joined')
    return isJoined ? waiting() : empty('You aren’t in this session', 'Join it first, if it is offered to you.', h('a', { class: 'button', href: '/together' }, 'All sessions'))
  }
  return h('div', { class: 'columns wide-first' },
    h('div', {}, table(state), state.game ? board(state, nameOf) : undefined),
    h('div', {}, participants(state), ways(state)))
}

function table(state) {
  const { group, activity, seats, host } = state
  const seated = state.participants.filter(({ seat }) => seat !== undefined)
  const isHost = host === me()
  const isRunning = state.game && !state.game.finished
  const begin = () => {
    const [first, second] = seated.toSorted((left, right) => left.seat - right.seat).map(({ id }) => id)
    return act('StartGame', { group, state: newGame(first, second), turnField: 'turn', lead: 0 })
  }
  return h('section', { class: 'card', 'aria-labelledby': 'group-title' },
    h('h1', { id: 'group-title' }, activity?.title ?? 'Group session'),
    h('ul', { class: 'seats', 'aria-label': 'Seats' }, Array.from({ length: seats }, (_, seat) => h('li', { key: seat }, seatOf(state, seat)))),
    !isRunning && h('div', { class: 'actions' },
      h('p', { class: 'hint standing' }, seated.length < 2 ? 'Two have to take a seat.' : isHost ? 'Ready.' : `${nameOf(host)} can start the game.`),
      button(pending('StartGame', group) ? 'Starting…' : state.game ? 'Play again' : 'Start', begin, { kind: 'primary', disabled: !isHost || seated.length < 2 || Boolean(pending('StartGame', group)) })))
}

/** A seat shows who has it; a claim shows at once, and goes back if somebody else was first (P18). */
function seatOf({ group, participants }, seat) {
  const mine = participants.find(({ id }) => id === me())
  const owner = participants.find((one) => one.seat === seat)
  const claim = pending('ClaimSeat', group) ?? pending('MoveSeat', group)
  if (!owner && claim?.fields.seat === seat) return h('span', { class: 'seat claiming' }, h('span', { class: 'spinner' }), h('small', {}, 'claiming…'))
  if (!owner) {
    const take = () => act(mine?.seat === undefined ? 'ClaimSeat' : 'MoveSeat', { group, seat })
    return h('button', { type: 'button', class: 'seat free', onclick: take, disabled: Boolean(claim) }, h('strong', {}, '+'), h('small', {}, `Seat ${seat + 1}`))
  }
  const isMine = owner.id === me()
  const inside = [portrait(owner.id, personOf(owner.id), model.replica.people.get(owner.id)?.avatar), h('small', {}, nameOf(owner.id))]
  return isMine
    ? h('button', { type: 'button', class: 'seat mine', onclick: () => act('ReleaseSeat', { group }), title: 'Leave the seat', 'aria-label': 'Leave your seat' }, inside)
    : h('span', { class: `seat taken ${owner.awaySince ? 'away' : ''}` }, inside)
}

const personOf = (account) => (account === me() ? model.replica.account?.name ?? 'You' : personName(account))

function participants({ participants, host, group, invited }) {
  const isHost = host === me()
  return h('section', { class: 'card', 'aria-labelledby': 'participants-title' },
    h('h2', { id: 'participants-title' }, `Participants (${participants.length})`),
    h('ul', { class: 'plain' },
      participants.toSorted((left, right) => left.ordinal - right.ordinal).map(({ id, awaySince }) => h('li', { key: id, class: 'line' },
        portrait(id, personOf(id), id === me() ? model.replica.account?.avatar : model.replica.people.get(id)?.avatar),
        h('span', {}, h('strong', {}, nameOf(id)), h('small', {}, awaySince ? `away for ${ago(awaySince, now()).replace(' ago', '')}` : 'here')),
        id === host && badge('host'),
        isHost && id !== me() && button('Make host', () => act('TransferHost', { group, to: id }), { kind: 'small', 'aria-label': `Make ${nameOf(id)} host` }))),
      invited.map(({ id }) => h('li', { key: `invited-${id}`, class: 'line' }, portrait(id, personOf(id)), h('span', {}, h('strong', {}, nameOf(id)), h('small', {}, 'invited'))))),
    isHost && button('Invite', () => invite(group, [...participants, ...invited].map(({ id }) => id))))
}

async function invite(group, known) {
  const chosen = new Set()
  const people = [...model.replica.contacts.contacts.keys()].filter((account) => !known.includes(account))
  const contacts = await open((close, id) => [
    h('h2', { id }, 'Invite'),
    people.length ? h('div', {}, people.map((account) => toggle(personName(account), chosen.has(account), (isOn) => { chosen[isOn ? 'add' : 'delete'](account) })))
      : h('p', {}, 'All your contacts are here or invited.'),
    h('div', { class: 'actions' }, button('Cancel', () => close()), button('Send invitations', () => close([...chosen]), { kind: 'primary' })),
  ])
  if (contacts?.length) act('ActivateGroupSession', { group, contacts }, 'Invited')
}

function ways({ group, host }) {
  const leave = async () => { if (await attempt(() => command('LeaveGroupSession', { group }))) go('/together') }
  const end = async () => {
    const isSure = await confirm({ title: 'End it for everybody?', text: 'The session and its game end for all who are in it.', action: 'End for all' })
    if (isSure && await attempt(() => command('EndGroupSession', { group }))) go('/together')
  }
  return h('section', { class: 'card', 'aria-label': 'Leaving' }, h('div', { class: 'actions' },
    button('Leave', leave), host === me() && button('End for all', end, { kind: 'danger-quiet' })))
}
