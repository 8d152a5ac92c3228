/** The board of four in a row. */
import { h } from '../core/view.js'
import { model } from '../core/model.js'
import { now, second } from '../core/time.js'
import { act, attempt, command, underway } from '../core/actions.js'
import { signal } from '../net/messages.js'
import { columns, drop, isFull, rows } from '../state/four-in-a-row.js'
import { say } from './messages.js'
import { nameIn } from './names.js'

export function board({ group, game }) {
  const { state, version, finished } = game
  const me = model.account.account
  const isMyTurn = !finished && state.turn === me && !state.winner
  const isMoving = Boolean(underway('UpdateGame', { group }))
  const move = async (column) => {
    const patch = drop(state, column)
    if (!patch) return
    const reply = await attempt(() => command('UpdateGame', { group, expectedVersion: version, patch }))
    if (!reply?.result || !(patch.winner || isFull(patch))) return
    act('FinishGame', { group, expectedVersion: reply.result.version })
    if (patch.winner) say(group, 'score', { points: 1 })
  }
  const title = state.winner ? `${nameIn(state.winner)} won` : finished || isFull(state) ? 'Nobody won' : isMyTurn ? 'Your turn' : `${nameIn(state.turn)} to move`
  return h('section', { class: 'card', 'aria-labelledby': 'game-title' },
    h('div', { role: 'status' }, h('h2', { id: 'game-title' }, title)),
    h('div', { class: 'board', onpointermove: (event) => point(group, event) }, cursors(group), Array.from({ length: columns }, (_, column) =>
      h('button', {
        key: column, type: 'button', class: 'board-column', disabled: !isMyTurn || isMoving, onclick: () => move(column),
        'aria-label': `Column ${column + 1}: ${contents(state.cells, column)}`,
      }, Array.from({ length: rows }, (_, row) => {
        const place = row * columns + column
        return h('span', { class: `cell ${state.cells[place] === '.' ? '' : state.cells[place]} ${state.line?.includes(place) ? 'wins' : ''}` })
      })))),
    h('p', { class: 'hint' }, h('span', { class: 'cell x small' }), ` ${nameIn(state.players.x)}  `, h('span', { class: 'cell o small' }), ` ${nameIn(state.players.o)}`))
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
  return marks.length ? marks.map((mark) => (mark === 'x' ? 'first player' : 'second player')).join(', ') : 'empty'
}
