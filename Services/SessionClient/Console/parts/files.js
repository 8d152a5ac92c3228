/** Files that people share in a group session, and those that are on their way. */
import { h } from '../core/view.js'
import { model, changed } from '../core/model.js'
import { ago } from '../core/time.js'
import { act, attempt } from '../core/actions.js'
import { setProblem } from '../core/problems.js'
import { cancelUpload, download, share } from '../net/uploads.js'
import { saveAs } from './keeping.js'
import { nameIn } from './names.js'
import { button, refusal } from './pieces.js'

const limit = 100_000_000
/** Which share of a download has arrived, by the file's id. */
const arriving = new Map()

export function files({ group, attachments, host }) {
  const choose = (event) => {
    setProblem('files')
    for (const file of event.target.files) {
      if (file.size === 0 || file.size > limit) setProblem('files', new Error(`${file.name} has to be between 1 byte and 100 MB.`))
      else share(group, file)
    }
    event.target.value = ''
  }
  const uploads = model.uploads.filter((one) => one.group === group)
  return h('section', { class: 'card', 'aria-labelledby': 'files-title' },
    h('h2', { id: 'files-title' }, 'Files'),
    attachments.length + uploads.length === 0 && h('p', { class: 'hint' }, 'What you share here stays until the session is over, also for those who join later.'),
    h('ul', { class: 'plain' },
      attachments.toSorted((left, right) => left.added - right.added).map((one) => file(group, one, host)),
      uploads.map(upload)),
    h('label', { class: 'button' }, 'Add a file', h('input', { type: 'file', multiple: true, class: 'visually-hidden', onchange: choose })),
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
    h('span', {}, h('strong', {}, name), h('small', {}, `${sizeOf(size)}, from ${nameIn(account)}, ${ago(added)}`)),
    h('span', { class: 'actions' },
      (account === model.account.account || host === model.account.account)
        && button('Remove', () => act('RemoveAttachment', { group, attachment: id }, 'Removed', 'files'), { kind: 'small danger-quiet', 'aria-label': `Remove ${name}` }),
      button(share === undefined ? 'Download' : percent(share), save, { kind: 'small', disabled: share !== undefined, 'aria-label': `Download ${name}` })))
}

function upload(entry) {
  const { id, name, size, done = 0, problem } = entry
  return h('li', { key: `upload-${id}`, class: 'line' },
    h('span', {}, h('strong', {}, name),
      problem ? h('small', { class: 'problem', role: 'alert' }, problem)
        : [h('small', {}, `${percent(done)} of ${sizeOf(size)}`), h('progress', { max: 100, value: Math.floor(100 * done), 'aria-label': `Sharing ${name}` })]),
    button('Cancel', () => cancelUpload(entry), { kind: 'small', 'aria-label': `Cancel ${name}` }))
}

const percent = (share) => `${Math.floor(100 * share)} %`
const units = [[1_000_000, 'MB'], [1000, 'kB'], [1, 'bytes']]

function sizeOf(bytes) {
  const [unit, name] = units.find(([unit]) => bytes >= unit) ?? units.at(-1)
  return `${Number((bytes / unit).toPrecision(3))} ${name}`
}
