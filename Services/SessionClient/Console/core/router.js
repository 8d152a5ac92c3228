/** Paths to pages, with the browser's history, so links, Back and reloads work. */
import { model, changed } from './model.js'
import { dropProblems } from './problems.js'

const routes = []

/** @param {string} pattern as `/contacts/{account}` */
export function addRoute(pattern, page) {
  const names = [...pattern.matchAll(/\{(\w+)\}/g)].map((match) => match[1])
  const expression = new RegExp(`^${pattern.replace(/\{\w+\}/g, '([^/]+)')}$`)
  routes.push({ pattern, expression, names, page })
}

/** What a path shows; no page where there is none. */
function match(path) {
  for (const { expression, names, page, pattern } of routes) {
    const values = expression.exec(path)
    if (values) return { path, pattern, page, params: Object.fromEntries(names.map((name, place) => [name, values[place + 1]])) }
  }
  return { path, params: {} }
}

/** Shows the page of the address bar. */
export function readAddress() {
  if (location.pathname !== model.route.path) dropProblems()
  model.route = match(location.pathname)
  model.isPlayerShown = location.hash === '#player'
  changed()
}

export function go(path, { replacing = false } = {}) {
  if (path !== location.pathname + location.hash) history[replacing ? 'replaceState' : 'pushState'](null, '', path)
  readAddress()
  scrollTo(0, 0)
  document.querySelector('main')?.focus({ preventScroll: true })
}

/** Follows links to our own pages without loading anything. */
export function followLinks() {
  addEventListener('popstate', readAddress)
  document.addEventListener('click', (event) => {
    const link = event.target.closest?.('a[href^="/"]')
    if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || link.target) return
    event.preventDefault()
    go(link.getAttribute('href'))
  })
}
