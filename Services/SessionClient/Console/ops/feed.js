/**
 * What the pages for operators show. A page says while it is drawn which panels it has; each of these asks again after its
 * pause. Panels that aren't drawn any more are forgotten, and while the page is hidden nothing runs, not even a timer.
 */
import { changed } from '../core/model.js'

const panels = new Map()
const step = 250

let drawing = 0
let timer

/** Call before each drawing. */
export const beginDrawing = () => { drawing += 1 }

/**
 * The panel's state: `value` once it was answered, `problem` if the last request failed.
 * @param {string} name what it shows, with its parameters
 * @param {function} load resolves with the value; is given the last one
 * @param {number} [pause] milliseconds between two requests; only one request if there is none
 */
export function watch(name, load, pause = Infinity) {
  const panel = panels.get(name) ?? { at: -Infinity }
  panels.set(name, Object.assign(panel, { load, pause, drawing }))
  resume()
  return panel
}

/** Asks all panels again, now. */
export function refresh() {
  for (const panel of panels.values()) panel.at = -Infinity
  resume()
}

export function resume() {
  timer ??= setTimeout(tick)
}

function tick() {
  timer = undefined
  if (document.hidden) return
  let isAlive = false
  for (const [name, panel] of panels) {
    if (panel.drawing !== drawing) panels.delete(name)
    else if (!panel.isAsking && performance.now() - panel.at >= panel.pause) run(panel)
    isAlive ||= panel.pause < Infinity
  }
  if (isAlive) timer ??= setTimeout(tick, step)
}

async function run(panel) {
  panel.isAsking = true
  try {
    panel.value = await panel.load(panel.value)
    panel.problem = undefined
  } catch (error) {
    panel.problem = error
  }
  Object.assign(panel, { isAsking: false, at: performance.now() })
  changed()
}
