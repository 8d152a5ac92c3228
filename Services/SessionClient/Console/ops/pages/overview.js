/** `/ops`: health in a line per service, what needs attention, charts, lag, leases, timers and what operators did. */
import { h } from '../../core/view.js'
import { changed } from '../../core/model.js'
import { watch } from '../feed.js'
import { ask } from '../key.js'
import { buckets, parse, percentile, sums } from '../metrics.js'
import { card, chart, keep, panel, second, state, trouble } from '../pieces.js'

export const overview = () => [
  h('h1', { class: 'visually-hidden' }, 'Overview'),
  panel('Health', 'health', { pause: 5 * second, cells: { state } }),
  panel('Needs attention', 'counts', { view: tiles }),
  charts(),
  h('div', { class: 'columns' },
    h('div', {},
      panel('Handled in the last minute', 'throughput', { none: 'Nothing was handled yet.' }),
      panel('Due next', 'timers', { none: 'No timer is set.', first: ['in', 'name'], hidden: ['body'] })),
    h('div', {},
      panel('Workers', 'workers', { first: ['consumer', 'source', 'share', 'holds', 'alive_for'], hidden: ['owner', 'pid'] }),
      panel('What operators did', 'acts', { none: 'Nothing yet.', first: ['at', 'act', 'who', 'reason'] }))),
  panel('Lag', 'lag'),
  panel('Alarms that wait in a service', 'waiting_alarms', { pause: 5 * second, none: 'None has waited there for 5 s.' }),
  panel('Synthetic alarms', 'canary', { none: 'There is no partition.', first: ['part', 'waits_to_be', 'by', 'late'], cells: { waits_to_be: state } }),
  h('details', { class: 'card', ontoggle: (event) => { isShowingLeases = event.target.open; changed() } },
    h('summary', {}, h('h2', {}, 'Which worker has which partition')), isShowingLeases && panel('Leases', 'leases', { cells: { state } })),
]

let isShowingLeases = false

const places = { 'dead letters to decide about': '/ops/dead', 'parked messages': '/ops/dead', 'running operations': '/ops/sagas' }

const tiles = (list) => h('ul', { class: 'tiles' }, list.map(({ what, number }) =>
  h('li', { key: what, class: number !== '0' && places[what] === '/ops/dead' ? 'critical' : undefined },
    h('strong', {}, number), places[what] ? h('a', { href: places[what] }, what) : what)))

const logs = ['session.log', 'contacts.log', 'notifications.log']

/** What the page has read of `/metrics` since it was opened, as far as charts show it. */
const history = { events: {}, batches: {}, streams: {}, waiting: {} }
let last

function charts() {
  const { problem } = watch('metrics', read, 2 * second)
  return card('This edge, live', undefined,
    problem && trouble(problem),
    h('div', { class: 'charts' },
      chart('Events', history.events, '/s'), chart('Batches of policies', history.batches, 'ms'),
      chart('Streams', history.streams, 'open'), chart('Waiting for the database', history.waiting, 'requests')))
}

async function read() {
  const samples = parse((await ask('GET', 'metrics')).text)
  const now = { at: performance.now(), rows: sums(samples, 'quartet_tail_rows_total', 'log'), times: buckets(samples, 'quartet_batch_seconds') }
  // After a pause, the figures in between aren't known.
  const seconds = last && (now.at - last.at) / 1000
  const isNext = seconds && seconds < 10
  for (const log of logs) {
    const rate = isNext ? Math.max(0, (now.rows[log] ?? 0) - (last.rows[log] ?? 0)) / seconds : undefined
    add('events', log.replace('.log', ''), rate)
  }
  for (const [name, share] of [['half under', 0.5], ['99 % under', 0.99]]) {
    const bound = isNext ? percentile(last.times, now.times, share) : undefined
    add('batches', name, bound === undefined ? undefined : bound * 1000)
  }
  add('streams', 'subscribers', sums(samples, 'quartet_subscribers', 'log')['contacts.log'] ?? 0)
  for (const [pool, number] of Object.entries(sums(samples, 'quartet_pool_waiting', 'pool'))) add('waiting', pool, number)
  last = now
  return history
}

const add = (name, series, value) => { history[name][series] = keep(history[name][series], value) }
