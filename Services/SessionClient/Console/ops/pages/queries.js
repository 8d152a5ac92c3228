/** `/ops/sql`: the named queries of `make psql`, with their SQL. */
import { h } from '../../core/view.js'
import { changed } from '../../core/model.js'
import { field, waiting } from '../../parts/pieces.js'
import { allQueries, panel } from '../pieces.js'

const view = { name: 'tail', values: {} }

export function queries() {
  const all = allQueries()
  const query = all.find((one) => one.name === view.name)
  const isWhole = query?.parameters.every((name) => view.values[name] || ['alarm', 'handle'].includes(name))
  return [
    h('h1', {}, 'Queries'),
    h('section', { class: 'card', 'aria-label': 'Choose' },
      h('div', { class: 'field' },
        h('label', { for: 'query' }, 'Query'),
        h('select', { id: 'query', value: view.name, onchange: (event) => { view.name = event.target.value; changed() } },
          all.map(({ name, help }) => h('option', { key: name, value: name }, `${name}: ${help}`)))),
      query?.parameters.map((name) => field(name, {
        id: `query-${name}`, value: view.values[name] ?? '', autocomplete: 'off',
        oninput: (event) => { view.values[name] = event.target.value.trim(); changed() },
      })),
      query && h('pre', { tabindex: '0' }, query.sql)),
    !query ? waiting() : !isWhole ? h('p', { class: 'hint' }, `Say first which ${query.parameters.join(', ')}.`)
      : panel('Rows', query.name, { values: Object.fromEntries(query.parameters.map((name) => [name, view.values[name]])), pause: Infinity }),
  ]
}
