/**
 * A list that only has the rows that can be seen, however long it is. Rows have fixed heights, so a row's place is known
 * without drawing the others.
 */
import { h, steady } from '../core/view.js'
import { changed } from '../core/model.js'

/** How far beyond the window rows are drawn, in pixels. */
const margin = 600

/**
 * @param {string} label what the list is
 * @param {Array} rows `{key, height, view}` in order
 * @param {Array} facts what rows show besides: those that are drawn are drawn again when one of them changes. Without facts they
 *   always are.
 */
export function virtualList(label, rows, facts = [{}]) {
  const { tops, total } = placesOf(rows)
  const from = Math.max(0, firstFrom(tops, scrollY - listTop - margin) - 1)
  const to = firstFrom(tops, scrollY - listTop + innerHeight + margin)
  const focused = focusedPlace(rows)
  return steady('div', { class: 'rows', role: 'list', 'aria-label': label, style: { height: `${total}px` }, mount: follow }, [rows, from, to, focused, ...facts],
    () => placesDrawn(from, to, focused).map((place) => {
      const { key, role = 'listitem', height, view } = rows[place]
      return h('div', {
        key, 'data-key': key, class: 'row-place', role, 'aria-setsize': rows.length, 'aria-posinset': place + 1,
        style: { transform: `translateY(${tops[place]}px)`, height: `${height}px` },
      }, view())
    }))
}

/** The place of the row that has the focus, wherever it is: it stays drawn, since the focus would go with it. Or -1. */
function focusedPlace(rows) {
  const key = document.activeElement?.closest('.row-place')?.dataset.key
  if (key === undefined) return -1
  if (!placesByKey.has(rows)) placesByKey.set(rows, new Map(rows.map((row, place) => [String(row.key), place])))
  return placesByKey.get(rows).get(key) ?? -1
}

const placesByKey = new WeakMap()

/** From `from` up to `to`, and the one besides, in order. */
function placesDrawn(from, to, besides) {
  const drawn = to <= from ? [] : Array.from({ length: to - from }, (_, place) => from + place)
  if (besides < 0 || (besides >= from && besides < to)) return drawn
  return besides < from ? [besides, ...drawn] : [...drawn, besides]
}

/** Heights of rows: on phones texts take more lines. */
export const rowHeight = () => (innerWidth <= 480 ? 104 : 76)

const places = new WeakMap()

/** Where each row begins, and how high all are together; computed once for each list. */
function placesOf(rows) {
  if (!places.has(rows)) {
    const tops = []
    let total = 0
    for (const row of rows) {
      tops.push(total)
      total += row.height
    }
    places.set(rows, { tops, total })
  }
  return places.get(rows)
}

/** The first place whose top isn't above `height`. */
function firstFrom(tops, height) {
  let low = 0
  let high = tops.length
  while (low < high) {
    const middle = (low + high) >> 1
    tops[middle] < height ? (low = middle + 1) : (high = middle)
  }
  return low
}

/** Where the list begins on the page. */
let listTop = 0

function follow(element) {
  const measure = () => {
    listTop = element.getBoundingClientRect().top + scrollY
    changed()
  }
  // It calls as soon as it observes, once the page is laid out.
  const observer = new ResizeObserver(measure)
  observer.observe(document.body)
  addEventListener('scroll', changed, { passive: true })
  return () => {
    observer.disconnect()
    removeEventListener('scroll', changed)
  }
}
