/** `/notifications`: unread first, by category, back to the beginning of the history. */
import { h } from '../core/view.js'
import { model, changed } from '../core/model.js'
import { ago, moment } from '../core/time.js'
import { draft, setDraft } from '../core/drafts.js'
import { act, attempt } from '../core/actions.js'
import { isCritical, sentence } from '../core/words.js'
import { read } from '../net/api.js'
import { category, isUnread } from '../state/notifications.js'
import { iconOf } from '../parts/icons.js'
import { personName } from '../parts/names.js'
import { button, choices, empty, waiting } from '../parts/pieces.js'
import { rowHeight, virtualList } from '../parts/virtual-list.js'

const form = 'notifications'
const categories = { all: 'All', alerts: 'Alerts', pings: 'Pings', relationships: 'Contacts', group: 'Groups', system: 'System' }
const icons = { alerts: 'alert', pings: 'ping', relationships: 'people', group: 'people', system: 'gear' }

/** What was read of the history before the stream's newest ones, for one account. */
let older = { account: undefined, list: [], next: undefined, isWhole: false }

export function notifications() {
  const state = model.replica?.notifications
  if (!state) return waiting()
  if (older.account !== state.account) older = { account: state.account, list: [], next: undefined, isWhole: false }
  const { show = 'all', isUnreadOnly = false } = draft(form)
  const newest = new Set(state.notifications.map((one) => one.id))
  const all = [...state.notifications, ...older.list.filter((one) => !newest.has(one.id))]
    .filter((one) => (show === 'all' || category(one.kind) === show) && (!isUnreadOnly || isUnread(one)))
  const unread = all.filter(isUnread)
  const rest = all.filter((one) => !isUnread(one))
  return h('section', { class: 'narrow wide', 'aria-labelledby': 'notifications-title' },
    h('div', { class: 'title-line' },
      h('h1', { id: 'notifications-title' }, 'Notifications', state.unread > 0 && h('span', { class: 'badge critical' }, state.unread)),
      button('Read all', () => act('MarkAllRead'), { disabled: state.unread === 0 })),
    h('div', { class: 'tools' },
      choices('Category', categories, show, (next) => setDraft(form, { show: next })),
      choices('Which', { all: 'All', unread: 'Unread' }, isUnreadOnly ? 'unread' : 'all', (next) => setDraft(form, { isUnreadOnly: next === 'unread' }))),
    all.length ? virtualList('Notifications', [...group('Unread', unread), ...group('Earlier', rest)])
      : empty('Nothing here', isUnreadOnly ? 'Everything is read.' : 'What happens to you and your contacts shows up here.'),
    !older.isWhole && !isUnreadOnly && state.notifications.length > 0 && h('p', { class: 'centred' }, button('Show earlier ones', loadOlder)))
}

const group = (title, list) => list.length === 0 ? [] : [
  { key: title, height: 40, view: () => h('h2', { class: 'group' }, title) },
  ...list.map((one) => ({ key: one.id, height: rowHeight(), view: () => row(one) })),
]

function row(one) {
  const kind = category(one.kind)
  const href = one.details?.group ? '/together' : model.replica.contacts?.contacts.has(one.subject) ? `/contacts/${one.subject}` : undefined
  const text = sentence(one, personName(one.subject))
  const markRead = () => isUnread(one) && act('MarkRead', { id: one.id })
  return h('div', { class: `row ${isUnread(one) ? 'unread' : ''} ${isCritical(one.kind) ? 'critical' : ''}` },
    h('span', { class: `portrait kind-${kind}` }, iconOf(icons[kind])),
    href ? h('a', { class: 'row-text', href, onclick: markRead }, h('strong', {}, text), when(one))
      : h('div', { class: 'row-text' }, h('strong', {}, text), when(one)),
    isUnread(one) && button(iconOf('check'), markRead, { kind: 'round', title: 'Mark as read', 'aria-label': `Mark as read: ${text}` }))
}

const when = (one) => h('small', { title: moment(one.created) }, ago(one.created), one.cleared && ' · cleared')

const page = 200

/** The next page of the history. The first one is known already, but says where the next begins. */
const loadOlder = () => attempt(async () => {
  const before = older.next ? `&before=${encodeURIComponent(older.next)}` : ''
  const { notifications: list, next } = await read(`/v1/notifications?limit=${page}${before}`)
  older = { ...older, list: [...older.list, ...list], next, isWhole: !next }
  changed()
})
