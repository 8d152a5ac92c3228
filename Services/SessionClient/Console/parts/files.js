/** Files that people share in a group session, and those that are on their way. */
import { h } from '../core/view.js'
import { lazily, plural, t } from '../core/language.js'
import { model, changed } from '../core/model.js'
import { ago } from '../core/time.js'
import { act, attempt } from '../core/actions.js'
import { setProblem } from '../core/problems.js'
import { cancelUpload, download, share } from '../net/uploads.js'
import { saveAs } from './keeping.js'
import { personName } from './names.js'
import { button, refusal } from './pieces.js'

const limit = 100_000_000
/** Which share of a download has arrived, by the file's id. */
const arriving = new Map()

export function files({ group, attachments, host }) {
  const choose = (event) => {
    setProblem('files')
    for (const file of event.target.files) {
      if (file.size === 0 || file.size > limit) setProblem('files', new Error(t`${file.name} has to be between 1 byte and 100 MB.`))
      else share(group, file)
    }
    event.target.value = ''
  }
  const uploads = model.uploads.filter((one) => one.group === group)
  return h('section', { class: 'card', 'aria-labelledby': 'files-title' },
    h('h2', { id: 'files-title' }, t`Files`),
    attachments.length + uploads.length === 0 && h('p', { class: 'hint' }, t`What you share here stays until the session is over, also for those who join later.`),
    h('ul', { class: 'plain' },
      attachments.toSorted((left, right) => left.added - right.added).map((one) => file(group, one, host)),
      uploads.map(upload)),
    h('label', { class: 'button' }, t`Add a file`, h('input', { type: 'file', multiple: true, class: 'visually-hidden', onchange: choose })),
    refusal('files'))
}

function file(group, one, host) {
  const { id, account, name, size, added } = one
  const share = arriving.get(id)
  const save = () => attempt(async () => {
    arriving.set(id, 0)
    changed()
    try {
      saveAs(await download(group, one, (share) => { arriving.set(id, share); changed() }), name)
    } finally {
      arriving.delete(id)
      changed()
    }
  }, undefined, { at: 'files', isKept: false })
  return h('li', { key: id, class: 'line wraps' },
    h('span', {}, h('strong', {}, name), h('small', {}, account === model.account.account ? t`${sizeOf(size)}, from you, ${ago(added)}` : t`${sizeOf(size)}, from ${personName(account)}, ${ago(added)}`)),
    h('span', { class: 'actions' },
      (account === model.account.account || host === model.account.account)
        && button(t`Remove`, () => act('RemoveAttachment', { group, attachment: id }, t`Removed`, 'files'), { kind: 'small danger-quiet', 'aria-label': t`Remove ${name}` }),
      button(share === undefined ? t`Download` : percent(share), save, { kind: 'small', disabled: share !== undefined, 'aria-label': t`Download ${name}` })))
}

function upload(entry) {
  const { id, name, size, done = 0, problem } = entry
  return h('li', { key: `upload-${id}`, class: 'line' },
    h('span', {}, h('strong', {}, name),
      problem ? h('small', { class: 'problem', role: 'alert' }, problem)
        : [h('small', {}, t`${percent(done)} of ${sizeOf(size)}`), h('progress', { max: 100, value: Math.floor(100 * done), 'aria-label': t`Sharing ${name}` })]),
    button(t`Cancel`, () => cancelUpload(entry), { kind: 'small', 'aria-label': t`Cancel ${name}` }))
}

const percent = (share) => `${Math.floor(100 * share)} %`
const digits = lazily((locale) => new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 }))

function sizeOf(bytes) {
  const { format } = digits()
  if (bytes >= 1_000_000) return `${format(bytes / 1_000_000)} MB`
  return bytes >= 1000 ? `${format(bytes / 1000)} kB` : plural(bytes, t`${bytes} byte`, t`${bytes} bytes`)
}
