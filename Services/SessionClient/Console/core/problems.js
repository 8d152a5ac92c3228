/** What was refused, by the form or button that asked for it: it is shown there, until it is tried again or another page is shown. */
import { model, changed } from './model.js'

const problems = new Map()
const nameOf = (place) => `${model.account?.account ?? 'nobody'}/${place}`

export const problemOf = (place) => problems.get(nameOf(place))

/** @param {Error} [problem] undefined: there is none any more */
export function setProblem(place, problem) {
  problem ? problems.set(nameOf(place), problem) : problems.delete(nameOf(place))
  changed()
}

export const dropProblems = () => problems.clear()
