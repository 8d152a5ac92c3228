/** `/ops/tail`: the newest messages of all logs, as they come. */
import { h } from '../../core/view.js'
import { changed } from '../../core/model.js'
import { button, field, waiting } from '../../parts/pieces.js'
import { watch } from '../feed.js'
import { ask } from '../key.js'
import { card, second, state, storyLink, table, trouble } from '../pieces.js'

/** As many as a page can hold without getting slow. */
const limit = 200
/** Transactions commit in another order than they recorded, so the last moments are asked for again. */
const overlap = 2_000_000

const view = { isPaused: false, filter: '', list: [] }

export function tail() {
  // What is paused isn't asked for.
  const panel = watch('tail', load, view.isPaused ? Infinity : second)
  const wanted = view.filter.trim().toLowerCase().split(/\s+/).filter(Boolean)
  const shown = view.list.filter((one) => wanted.every((word) => one.text.includes(word))).slice(-limit).reverse()
  return [
    h('div', { class: 'title-line' },
      h('h1', {}, 'Live tail'),
      button(view.isPaused ? 'Go on' : 'Pause', () => { view.isPaused = !view.isPaused; changed() }, { 'aria-pressed': view.isPaused ? 'true' : 'false' })),
    card('Messages', 'tail',
      field('Only what contains', {
        id: 'tail-filter', value: view.filter, type: 'search', autocomplete: 'off', placeholder: 'contacts PingSent account/…',
        oninput: (event) => { view.filter = event.target.value; changed() },
      }, { hint: 'Words of the log, the type, the key, the account or the outcome.' }),
      panel.problem && trouble(panel.problem),
      !panel.value ? waiting() : shown.length ? table(shown.map((one) => one.row), {
        title: 'Messages', cells: { outcome: state, request: storyLink },
      }) : h('p', { class: 'hint' }, view.list.length ? 'Nothing of it matches.' : 'Nothing was said in the last minute.')),
  ]
}

async function load() {
  const newest = view.list.at(-1)
  const since = newest ? Math.round(Date.parse(newest.at) * 1000) - overlap : undefined
  const messages = await ask('GET', `tail${since ? `?since=${since}` : ''}`)
  const known = new Set(view.list.map((one) => one.place))
  for (const one of messages) {
    const place = `${one.log}/${one.partition}/${one.position}`
    if (known.has(place)) continue
    const { at, log, partition, position, kind, type, key, account, outcome, request } = one
    view.list.push({
      place, at, row: { at: at.slice(11, 23), log: log.replace('session_client.', ''), place: `${partition}:${position}`, kind, type, key, outcome, request },
      text: [log, kind, type, key, account, outcome, request].join(' ').toLowerCase(),
    })
  }
  view.list.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  view.list = view.list.slice(-5 * limit)
  return view.list
}
