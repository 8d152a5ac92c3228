/** The board of four in a row. */
import { h } from '../core/view.js'
import { model } from '../core/model.js'
import { act, attempt, command } from '../core/actions.js'
import { columns, drop, isFull, rows } from '../state/four-in-a-row.js'

export function board({ group, game }, nameOf) {
  const { state, version, finished } = game
  const me = model.account.account
  const isMyTurn = !finished && state.turn === me && !state.winner
  const isMoving = model.outbox.some(({ path, fields, state }) => path.endsWith('/UpdateGame') && fields.group === group && state === 'waiting')
  const move = async (column) => {
    const patch = drop(state, column)
    if (!patch) return
    const reply = await attempt(() => command('UpdateGame', { group, expectedVersion: version, patch }))
    if (reply?.result && (patch.winner || isFull(patch))) act('FinishGame', { group, expectedVersion: reply.result.version })
  }
  const title = state.winner ? `${nameOf(state.winner)} won` : finished || isFull(state) ? 'Nobody won' : isMyTurn ? 'Your turn' : `${nameOf(state.turn)} to move`
  return h('section', { class: 'card', 'aria-labelledby': 'game-title' },
    h('h2', { id: 'game-title', role: 'status' }, title),
    h('div', { class: 'board' }, Array.from({ length: columns }, (_, column) =>
      h('button', {
        key: column, type: 'button', class: 'board-column', disabled: !isMyTurn || isMoving, onclick: () => move(column),
        'aria-label': `Column ${column + 1}: ${contents(state.cells, column)}`,
      }, Array.from({ length: rows }, (_, row) => {
        const place = row * columns + column
        return h('span', { class: `cell ${state.cells[place] === '.' ? '' : state.cells[place]} ${state.line?.includes(place) ? 'wins' : ''}` })
      })))),
    h('p', { class: 'hint' }, h('span', { class: 'cell x small' }), ` ${nameOf(state.players.x)}  `, h('span', { class: 'cell o small' }), ` ${nameOf(state.players.o)}`))
}

const contents = (cells, column) => {
  const marks = Array.from({ length: rows }, (_, row) => cells[row * columns + column]).filter((mark) => mark !== '.')
  return marks.length ? marks.map((mark) => (mark === 'x' ? 'first player' : 'second player')).join(', ') : 'empty'
}
