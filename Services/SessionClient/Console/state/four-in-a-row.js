/** Four in a row: seven columns, six rows, two players. The state is what the group's game carries. */

export const columns = 7
export const rows = 6
const directions = [[1, 0], [0, 1], [1, 1], [1, -1]]

/** A new game: `cells` has a letter for each place, row by row from the top. */
export const newGame = (first, second) => ({ cells: '.'.repeat(columns * rows), players: { x: first, o: second }, turn: first })

/** Whether a group's game is this one: apps may play others. */
export const isFourInARow = ({ cells, players, line } = {}) =>
  typeof cells === 'string' && cells.length === columns * rows && /^[.xo]*$/.test(cells)
  && typeof players?.x === 'string' && typeof players?.o === 'string' && (line === undefined || Array.isArray(line))

/** What changes when the one whose turn it is drops a piece into a column; undefined if it is full. */
export function drop(game, column) {
  const row = [...Array(rows).keys()].findLast((row) => game.cells[row * columns + column] === '.')
  if (row === undefined) return undefined
  const mark = game.turn === game.players.x ? 'x' : 'o'
  const place = row * columns + column
  const cells = game.cells.slice(0, place) + mark + game.cells.slice(place + 1)
  const line = winningLine(cells)
  return { cells, turn: mark === 'x' ? game.players.o : game.players.x, ...(line && { winner: game.turn, line }) }
}

export const isFull = ({ cells }) => !cells.includes('.')

/** The four places in a row, if there are. */
function winningLine(cells) {
  const at = (row, column) => (row >= 0 && row < rows && column >= 0 && column < columns ? cells[row * columns + column] : undefined)
  for (let place = 0; place < cells.length; place++) {
    const [row, column] = [Math.floor(place / columns), place % columns]
    if (cells[place] === '.') continue
    for (const [down, right] of directions) {
      const line = [0, 1, 2, 3].map((step) => [row + down * step, column + right * step])
      if (line.every(([r, c]) => at(r, c) === cells[place])) return line.map(([r, c]) => r * columns + c)
    }
  }
  return undefined
}
