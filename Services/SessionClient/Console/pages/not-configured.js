/** What is shown where browsers lack what the console needs. */
import { h } from '../core/view.js'
import { t } from '../core/language.js'
import { connectionWords } from '../core/words.js'

export function notConfigured() {
  const { text, tone } = connectionWords({ name: 'notConfigured' })
  return h('main', { class: 'empty', id: 'main' },
    h('p', { class: `connection ${tone}`, role: 'status' }, h('span', { class: 'dot' }), text),
    h('h1', {}, t`This address isn’t encrypted`),
    h('p', {}, t`The console keeps tokens sealed, which browsers only allow over https or at localhost.`, ' ',
      t`Ask whoever runs this server for its https address, or open it at http://localhost on the same machine.`))
}
