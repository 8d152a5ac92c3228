/** What is around every page for operators: the key, the pages, and whose key it is. */
import { h } from '../core/view.js'
import { model, changed } from '../core/model.js'
import { dialogs } from '../parts/dialogs.js'
import { iconOf } from '../parts/icons.js'
import { button, field, noSuchPage, waiting } from '../parts/pieces.js'
import { access, forgetKey, useKey } from './key.js'

const links = [
  ['/ops', 'Overview'], ['/ops/told', 'Was she told?'], ['/ops/dead', 'Failures'], ['/ops/tail', 'Live tail'],
  ['/ops/story', 'Stories'], ['/ops/sagas', 'Operations'], ['/ops/groups', 'Groups'], ['/ops/sql', 'Queries'],
]

export function shell() {
  return [
    h('a', { class: 'skip', href: '#main', onclick: (event) => { event.preventDefault(); document.querySelector('main').focus() } }, 'Skip to the page'),
    h('header', { class: 'top' },
      h('a', { class: 'brand', href: '/ops' }, iconOf('logo'), 'Quartet', h('span', { class: 'badge' }, 'operators')),
      access.owner && h('div', { class: 'connection' },
        h('span', { class: 'ops-owner' }, `${access.owner.name} (${access.owner.role === 'act' ? 'may act' : 'reads'})`),
        button('Forget key', () => forgetKey(), { kind: 'small' }))),
    access.owner && h('nav', { class: 'ops-tabs', 'aria-label': 'Pages' }, links.map(([path, title]) =>
      h('a', { href: path, 'aria-current': isCurrent(path) ? 'page' : undefined }, title))),
    h('main', { id: 'main', class: 'ops', tabindex: '-1', key: 'main' }, h('div', { key: access.owner ? model.route.path : 'key', mount: showTab }, inside())),
    h('div', { class: 'toasts', 'aria-live': 'polite' }, model.toasts.map(({ id, text, tone }) => h('p', { key: id, class: `toast ${tone}` }, text))),
    ...dialogs(),
  ]
}

/** Where tabs don't fit side by side, the page's own comes into view. */
const showTab = () => {
  // Scrolling answers with a promise, which isn't what to do at the end.
  document.querySelector('.ops-tabs [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
}

const isCurrent = (path) => model.route.path === path || (path !== '/ops' && model.route.path.startsWith(`${path}/`))

function inside() {
  if (access.owner) {
    const { page, params } = model.route
    return page ? page(params) : noSuchPage('/ops', 'Overview')
  }
  if (!access.isChecking) return keyForm()
  return [waiting(), access.problem && h('p', { class: 'notice critical', role: 'alert' }, access.problem)]
}

let typed = ''

function keyForm() {
  const submit = (event) => {
    event.preventDefault()
    const text = typed.trim()
    typed = ''
    useKey(text)
  }
  return h('form', { class: 'card narrow', onsubmit: submit },
    h('h1', {}, 'For operators'),
    h('p', {}, 'Paste your API key. ', h('code', {}, 'make run'), ' prints one once, and ', h('code', {}, 'session-client keys make'), ' makes others.'),
    field('API key', {
      id: 'operator-key', type: 'password', autocomplete: 'off', required: true, value: typed,
      oninput: (event) => { typed = event.target.value; changed() },
    }, { problem: access.problem, hint: 'It stays sealed in this browser until you forget it.' }),
    h('div', { class: 'actions' }, h('button', { class: 'button primary' }, 'Open')))
}
