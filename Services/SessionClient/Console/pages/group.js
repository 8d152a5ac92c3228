/** `/together/{group}`: one group session: who is there, who sits where, and the game (P37). */
import { h } from '../core/view.js'
import { plural, t } from '../core/language.js'
import { model, changed } from '../core/model.js'
import { now, span } from '../core/time.js'
import { act, attempt, command, underway } from '../core/actions.js'
import { problemOf, setProblem } from '../core/problems.js'
import { endingWords } from '../core/words.js'
import { go } from '../core/router.js'
import { messagesOf } from '../net/messages.js'
import { isFourInARow, newGame } from '../state/four-in-a-row.js'
import { isIn } from '../state/group.js'
import { readyOnes, scores } from '../state/messages.js'
import { isListening } from '../state/player.js'
import { board } from '../parts/board.js'
import { confirm, open } from '../parts/dialogs.js'
import { files } from '../parts/files.js'
import { messages, say } from '../parts/messages.js'
import { inGroup, nameIn, personName } from '../parts/names.js'
import { nowPlaying } from '../parts/player.js'
import { badge, button, empty, portrait, refusal, toggle, waitingPage } from '../parts/pieces.js'

const me = () => model.account.account

export function group({ group }) {
  if (!model.replica?.groups) return waitingPage()
  const state = model.replica.group.get(group)
  const ending = model.replica.endings.get(group)
  if (ending || state?.end) {
    return empty(t`This session is over`, endingWords(ending ?? state.end.reason), h('a', { class: 'button', href: '/together' }, t`All sessions`))
  }
  if (!state || !isIn(state, me())) {
    const isJoined = model.replica.groups.some((one) => one.group === group && one.standing === 'joined')
    return isJoined ? waitingPage() : empty(t`You aren’t in this session`, t`Join it first, if it is offered to you.`, h('a', { class: 'button', href: '/together' }, t`All sessions`))
  }
  return h('div', { class: 'columns wide-first' },
    h('div', {}, isListening(state) ? nowPlaying(state) : [table(state), state.game && play(state)]),
    h('div', {}, messages(state), participants(state), files(state), ways(state)))
}

const play = (state) => (isFourInARow(state.game.state ?? {}) ? board(state) : empty(t`Another game`, t`This page only shows four in a row.`))

function table(state) {
  const { group, activity, seats, host } = state
  const seated = state.participants.filter(({ seat }) => seat !== undefined)
  const isHost = host === me()
  const isRunning = state.game && !state.game.finished
  const begin = () => {
    const [first, second] = seated.toSorted((left, right) => left.seat - right.seat).map(({ id }) => id)
    return act('StartGame', { group, state: newGame(first, second), turnField: 'turn', lead: 0 }, undefined, 'table')
  }
  return h('section', { class: 'card', 'aria-labelledby': 'group-title' },
    h('h1', { id: 'group-title' }, activity?.title ?? t`Group session`),
    h('ul', { class: `seats ${isRunning ? 'running' : ''}`, 'aria-label': t`Seats` }, Array.from({ length: seats }, (_, seat) => seat)
      // While a game runs, an empty seat is no use to anybody.
      .filter((seat) => !isRunning || seated.some((one) => one.seat === seat)).map((seat) => h('li', { key: seat }, seatOf(state, seat)))),
    refusal('table'),
    !isRunning && h('div', { class: 'actions' },
      h('p', { class: 'hint standing' }, seated.length < 2 ? t`Two have to take a seat.` : isHost ? t`Ready.` : t`${nameIn(host)} can start the game.`),
      button(underway('StartGame', { group }) ? t`Starting…` : state.game ? t`Play again` : t`Start`, begin, { kind: 'primary', disabled: !isHost || seated.length < 2 || Boolean(underway('StartGame', { group })) })))
}

/** A seat shows who has it; a claim shows at once, and goes back if somebody else was first (P18). */
function seatOf({ group, participants }, seat) {
  const mine = participants.find(({ id }) => id === me())
  const owner = participants.find((one) => one.seat === seat)
  const claim = underway('ClaimSeat', { group }) ?? underway('MoveSeat', { group })
  if (!owner && claim?.fields.seat === seat) return h('span', { class: 'seat claiming' }, h('span', { class: 'spinner' }), h('small', {}, t`claiming…`))
  if (!owner) {
    const take = () => act(mine?.seat === undefined ? 'ClaimSeat' : 'MoveSeat', { group, seat }, undefined, 'table')
    return h('button', { type: 'button', class: 'seat free', onclick: take, disabled: Boolean(claim) }, h('strong', {}, '+'), h('small', {}, t`Seat ${seat + 1}`))
  }
  const isMine = owner.id === me()
  const inside = [portrait(owner.id, inGroup(owner.id), model.replica.people.get(owner.id)?.avatar), h('small', {}, nameIn(owner.id))]
  return isMine
    ? h('button', { type: 'button', class: 'seat mine', onclick: () => act('ReleaseSeat', { group }, undefined, 'table'), title: t`Leave the seat`, 'aria-label': t`Leave your seat` }, inside)
    : h('span', { class: `seat taken ${owner.awaySince ? 'away' : ''}` }, inside)
}

function participants({ participants, host, group, invited, capacity }) {
  const isHost = host === me()
  const { list } = messagesOf(group)
  const [ready, points] = [readyOnes(list), scores(list)]
  return h('section', { class: 'card', 'aria-labelledby': 'participants-title' },
    h('h2', { id: 'participants-title' }, t`Participants (${participants.length})`),
    h('ul', { class: 'plain' },
      participants.toSorted((left, right) => left.ordinal - right.ordinal).map(({ id, awaySince }) => h('li', { key: id, class: `line ${awaySince ? 'away' : ''}` },
        portrait(id, inGroup(id), id === me() ? model.replica.account?.avatar : model.replica.people.get(id)?.avatar),
        h('span', {}, h('strong', {}, nameIn(id)), h('small', {}, awaySince ? t`away for ${span(now() - awaySince)}` : t`here`)),
        points.has(id) && badge(plural(points.get(id), t`${points.get(id)} point`, t`${points.get(id)} points`)),
        ready.has(id) && badge(t`ready`, 'good'),
        id === host && badge(t`host`),
        isHost && id !== me() && button(t`Make host`, () => act('TransferHost', { group, to: id }, undefined, 'participants'), { kind: 'small', 'aria-label': t`Make ${nameIn(id)} host` }))),
      invited.map(({ id }) => h('li', { key: `invited-${id}`, class: 'line' }, portrait(id, inGroup(id)), h('span', {}, h('strong', {}, nameIn(id)), h('small', {}, t`invited`))))),
    toggle(t`I’m ready`, ready.has(me()), (isReady) => say(group, 'ready', { isReady }, 'participants')),
    refusal('participants'),
    isHost && capacity > 1 && button(t`Invite`, () => invite(group, [...participants, ...invited].map(({ id }) => id))))
}

function invite(group, known) {
  const chosen = new Set()
  const people = [...model.replica.contacts.contacts.keys()].filter((account) => !known.includes(account))
  const choose = (account) => (isOn) => { chosen[isOn ? 'add' : 'delete'](account); changed() }
  setProblem('invite')
  return open((close, id) => {
    const send = async () => {
      await act('ActivateGroupSession', { group, contacts: [...chosen] }, t`Invited`, 'invite')
      if (!problemOf('invite')) close()
    }
    return [
      h('h2', { id }, t`Invite`),
      people.length ? h('div', {}, people.map((account) => toggle(personName(account), chosen.has(account), choose(account))))
        : h('p', {}, t`All your contacts are here or invited.`),
      refusal('invite'),
      h('div', { class: 'actions' }, button(t`Cancel`, () => close()), button(t`Send invitations`, send, { kind: 'primary', disabled: !chosen.size })),
    ]
  })
}

function ways({ group, host }) {
  const leave = async () => { if (await attempt(() => command('LeaveGroupSession', { group }), undefined, { at: 'leaving' })) go('/together') }
  const end = async () => {
    const isSure = await confirm({ title: t`End it for everybody?`, text: t`The session and its game end for all who are in it.`, action: t`End for all` })
    if (isSure && await attempt(() => command('EndGroupSession', { group }), undefined, { at: 'leaving' })) go('/together')
  }
  return h('section', { class: 'card', 'aria-label': t`Leaving` },
    h('div', { class: 'actions' }, button(t`Leave`, leave), host === me() && button(t`End for all`, end, { kind: 'danger-quiet' })), refusal('leaving'))
}
