/** `/listen` and `/search`: a catalogue, as a list and as a search. What a search looks for stays in this tab (M7). */
import { h, steady } from '../core/view.js'
import { t } from '../core/language.js'
import { model, changed } from '../core/model.js'
import { time } from '../core/time.js'
import { draft, setDraft } from '../core/drafts.js'
import { enqueue, play } from '../core/player.js'
import { catalogue, find } from '../state/catalogue.js'
import { iconOf } from '../parts/icons.js'
import { artwork } from '../parts/player.js'
import { button, choices, empty, waitingPage } from '../parts/pieces.js'
import { go } from '../core/router.js'

const form = 'search'
/** How often each page appeared and its list was drawn: a list is drawn when what it shows changes, and not when something plays. */
const counts = { '/listen': { appeared: 0, drawn: 0 }, '/search': { appeared: 0, drawn: 0 } }

const appears = (path) => () => { counts[path].appeared += 1; changed() }

export const listen = () => page('/listen', t`Listen`, [],
  () => catalogue.map(({ title, tracks }) => h('section', { key: tracks[0].content, 'aria-label': title() }, h('h2', { class: 'group' }, title()), list(tracks))))

export function search() {
  const { text = '' } = draft(form)
  const found = () => {
    const tracks = find(text)
    return tracks.length ? list(tracks) : empty(t`Nothing found`, t`Try a title or a composer.`)
  }
  return page('/search', t`Search`, [text], found,
    h('div', { class: 'field' }, h('label', { for: 'search-text' }, t`Title or composer`),
      h('input', { id: 'search-text', type: 'search', autocomplete: 'off', value: text, oninput: (event) => setDraft(form, { text: event.target.value }) })))
}

function page(path, title, facts, inside, ...tools) {
  if (!model.replica?.groups) return waitingPage()
  // Counted while the page is being drawn, and so shown by the next drawing.
  const drawn = () => { counts[path].drawn += 1; changed(); return inside() }
  return h('section', { class: 'narrow', 'aria-labelledby': 'listen-title', mount: appears(path) },
    h('div', { class: 'title-line' }, h('h1', { id: 'listen-title' }, title), choices(t`Listen or search`, { '/listen': t`Listen`, '/search': t`Search` }, path, go)),
    ...tools,
    steady('div', { key: 'list' }, facts, drawn),
    h('footer', { class: 'hint counts' }, Object.entries(counts).map(([path, { appeared, drawn }]) =>
      h('p', { key: path, id: `count-${path.slice(1)}` }, t`${path}: appeared ${times(appeared)}, list drawn ${times(drawn)}`))))
}

const times = (count) => [t`never`, t`once`, t`twice`][count] ?? t`${count} times`

const list = (tracks) => h('ul', { class: 'plain' }, tracks.map((track) => h('li', { key: track.content, class: 'line' },
  artwork(track.content),
  h('span', {}, h('strong', {}, track.title), h('small', {}, `${track.by} · ${time(track.duration)}`)),
  button(iconOf('plus'), () => enqueue(track), { kind: 'round', title: t`Play it next`, 'aria-label': t`Queue ${track.title}` }),
  button(t`Play`, () => play(track), { kind: 'small primary-quiet', 'aria-label': t`Play ${track.title}` }))))
