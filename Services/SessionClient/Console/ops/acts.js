/** What operators do: each asks for a reason, which the audit keeps. */
import { h } from '../core/view.js'
import { changed } from '../core/model.js'
import { toast } from '../core/toasts.js'
import { open } from '../parts/dialogs.js'
import { button, field } from '../parts/pieces.js'
import { refresh } from './feed.js'
import { access, ask } from './key.js'

/** A button that asks why and then acts; nothing for keys that only read. */
export const actButton = (label, { title, text, path, body, done, kind = 'primary-quiet' }) =>
  access.owner?.role === 'act' && button(label, () => act({ label, title, text, path, body, done }), { kind: `small ${kind}` })

async function act({ label, title, text, path, body, done }) {
  const reason = await askWhy(title, text, label)
  if (!reason) return
  try {
    await ask('POST', path, { body: { ...body, reason } })
    toast(done, 'good')
  } catch (error) {
    toast(error.message, 'critical')
  }
  refresh()
}

function askWhy(title, text, label) {
  let reason = ''
  return open((close, id) => h('form', { onsubmit: (event) => { event.preventDefault(); close(reason.trim()) } },
    h('h2', { id }, title), h('p', {}, text),
    field('Why', {
      id: 'act-reason', required: true, maxlength: 1000, autocomplete: 'off', value: reason, autofocus: true,
      oninput: (event) => { reason = event.target.value; changed() },
    }, { hint: 'The audit keeps it with your key’s name and the time.' }),
    h('div', { class: 'actions' }, button('Cancel', () => close()), h('button', { class: 'button primary' }, label))))
}
