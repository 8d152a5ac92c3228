/** The board of four in a row. */
import { h } from '../core/view.js'
import { t } from '../core/language.js'
import { model } from '../core/model.js'
import { now, second, span } from '../core/time.js'
import { act, attempt, command, underway } from '../core/actions.js'
import { signal } from '../net/messages.js'
import { drop as forget, isHeldUp } from '../net/outbox.js'
import { columns, drop, isFull, rows } from '../state/four-in-a-row.js'
import { say } from './messages.js'
import { nameIn } from './names.js'
import { button, refusal } from './pieces.js'

export function board({ group, game, participants }) {
  const { version, finished } = game
  const me = model.account.account
  const entry = underway('UpdateGame', { group })
  // A move is seen at once, and looks as if it weren't there yet. Its event may have come before its answer.
  const made = entry?.fields.expectedVersion === version ? entry : undefined
  const state = made ? { ...game.state, cells: made.fields.patch.cells } : game.state
  const isMyTurn = !finished && state.turn === me && !state.winner
  const move = async (column) => {
    const patch = drop(state, column)
    if (!patch) return
    const reply = await attempt(() => command('UpdateGame', { group, expectedVersion: version, patch }), undefined, { at: 'board' })
    if (!reply?.result || !(patch.winner || isFull(patch))) return
    act('FinishGame', { group, expectedVersion: reply.result.version }, undefined, 'board')
    if (patch.winner) say(group, 'score', { points: 1 })
  }
  return h('section', { class: 'card', 'aria-labelledby': 'game-title' },
    h('div', { role: 'status' }, h('h2', { id: 'game-title' }, titleOf(game.state, finished, isMyTurn, made)), whoIsAway(game, participants)),
    h('div', { class: 'board', onpointermove: (event) => point(group, event) }, cursors(group), Array.from({ length: columns }, (_, column) =>
      h('button', {
        key: column, type: 'button', class: 'board-column', disabled: !isMyTurn || Boolean(entry), onclick: () => move(column),
        'aria-label': t`Column ${column + 1}: ${contents(state.cells, column)}`,
      }, Array.from({ length: rows }, (_, row) => {
        const place = row * columns + column
        const [mark, isThere] = [state.cells[place], state.cells[place] === game.state.cells[place]]
        return h('span', { class: `cell ${mark === '.' ? '' : mark} ${isThere || made.state === 'done' ? '' : 'unsent'} ${game.state.line?.includes(place) ? 'wins' : ''}` })
      })))),
    notMoved(group), refusal('board'),
    h('p', { class: 'hint' }, h('span', { class: 'cell x small' }), ` ${nameIn(state.players.x)}  `, h('span', { class: 'cell o small' }), ` ${nameIn(state.players.o)}`))
}

function titleOf(state, finished, isMyTurn, made) {
  if (state.winner) return state.winner === model.account.account ? t`You won` : t`${nameIn(state.winner)} won`
  if (finished || isFull(state)) return t`Nobody won`
  if (made?.state === 'done') return t`${nameIn(made.fields.patch.turn)} to move`
  if (made) return isHeldUp(made) ? t`Your move isn’t sent yet` : t`Your move is on its way`
  return isMyTurn ? t`Your turn` : t`${nameIn(state.turn)} to move`
}

/** Who plays and has lost the connection. */
function whoIsAway({ state, finished }, participants) {
  const away = participants.find(({ id, awaySince }) => awaySince && id !== model.account.account && Object.values(state.players).includes(id))
  return away && !finished && !state.winner
    && h('p', { class: 'away-note' }, t`${nameIn(away.id)} has lost the connection`, h('span', { 'aria-hidden': 'true' }, ` (${span(now() - away.awaySince)})`))
}

/** A move that came too late, or was refused when nobody waited for that any more. */
function notMoved(group) {
  const entry = model.outbox.find(({ path, fields, state }) => path.endsWith('/UpdateGame') && fields.group === group && state === 'refused')
  return entry && h('p', { class: 'line problem', role: 'alert' }, h('span', {}, t`Your move: ${entry.problem.message}`), button('OK', () => forget(entry.id), { kind: 'small' }))
}

/** How often one's own pointer is sent, and how long another's is shown. */
const pointerRepeats = 0.1 * second
const pointerLasts = 5 * second
let pointed = 0

/** Shows the others where one points. */
function point(group, { currentTarget, clientX, clientY }) {
  if (now() - pointed < pointerRepeats) return
  pointed = now()
  const { left, top, width, height } = currentTarget.getBoundingClientRect()
  const share = (value) => Math.min(1, Math.max(0, Number(value.toFixed(3))))
  signal(group, 'cursor', { x: share((clientX - left) / width), y: share((clientY - top) / height) })
}

const cursors = (group) => [...(model.replica.signals.get(group)?.values() ?? [])]
  .filter(({ topic, account, at }) => topic === 'cursor' && account !== model.account.account && now() - at < pointerLasts)
  .map(({ account, data: { x, y } }) => h('span', { key: `cursor-${account}`, class: 'cursor', style: { left: `${100 * x}%`, top: `${100 * y}%` } }, nameIn(account)))

const contents = (cells, column) => {
  const marks = Array.from({ length: rows }, (_, row) => cells[row * columns + column]).filter((mark) => mark !== '.')
  return marks.length ? marks.map((mark) => (mark === 'x' ? t`first player` : t`second player`)).join(', ') : t`empty`
}
