/** `/notifications`: unread first, by category, back to the beginning of the history. */
import { h } from '../core/view.js'
import { model } from '../core/model.js'
import { ago, moment } from '../core/time.js'
import { draft, setDraft } from '../core/drafts.js'
import { act, attempt } from '../core/actions.js'
import { isCritical, sentence } from '../core/words.js'
import { older, readOlder } from '../net/history.js'
import { isOver } from '../state/alarms.js'
import { category, isAllClear, isOwnDeed, isUnread, unreadOf } from '../state/notifications.js'
import { iconOf } from '../parts/icons.js'
import { personName } from '../parts/names.js'
import { button, choices, empty, waiting } from '../parts/pieces.js'
import { rowHeight, virtualList } from '../parts/virtual-list.js'

const form = 'notifications'
const categories = { all: 'All', alerts: 'Alerts', pings: 'Pings', relationships: 'Contacts', group: 'Groups', system: 'System' }
/** One's own deeds are no news, so they never look unread. */
const isNews = (one) => isUnread(one) && !isOwnDeed(one)
const icons = { alerts: 'alert', pings: 'ping', relationships: 'people', group: 'people', system: 'gear' }

export function notifications() {
  const state = model.replica?.notifications
  if (!state) return waiting()
  const { show = 'all', isUnreadOnly = false } = draft(form)
  const { list, isWhole, isReading } = older()
  const known = [...state.notifications, ...list]
  const isWanted = (one) => (show === 'all' || category(one.kind) === show) && (!isUnreadOnly || isNews(one))
  const all = known.filter(isWanted)
  const isMoreUnread = state.unread > known.filter(isUnread).length
  const unread = all.filter(isNews)
  const rest = all.filter((one) => !isNews(one))
  const count = unreadOf(state)
  return h('section', { class: 'narrow wide', 'aria-labelledby': 'notifications-title' },
    h('div', { class: 'title-line' },
      h('h1', { id: 'notifications-title' }, 'Notifications', count > 0 && h('span', { class: 'badge' }, count)),
      button('Mark all as read', () => act('MarkAllRead'), { kind: 'small', disabled: state.unread === 0 })),
    h('div', { class: 'tools' },
      choices('Category', categories, show, (next) => setDraft(form, { show: next })),
      choices('Which', { all: 'All', unread: 'Unread' }, isUnreadOnly ? 'unread' : 'all', (next) => setDraft(form, { isUnreadOnly: next === 'unread' }))),
    all.length ? virtualList('Notifications', [...group('Unread', unread), ...group('Earlier', rest)])
      : empty('Nothing here', !isUnreadOnly ? 'What happens to you and your contacts shows up here.' : isMoreUnread ? 'Earlier ones are unread.' : 'Everything is read.'),
    !isWhole && state.notifications.length > 0 && (isMoreUnread || !isUnreadOnly)
      && h('p', { class: 'centred' }, button('Show earlier ones', () => attempt(() => readOlder(isWanted)), { disabled: isReading })))
}

const group = (title, list) => list.length === 0 ? [] : [
  { key: title, height: 40, view: () => h('h2', { class: 'group' }, title) },
  ...list.map((one) => ({ key: one.id, height: rowHeight(), view: () => row(one) })),
]

function row(one) {
  const kind = category(one.kind)
  const hasEnded = isOver(one, model.replica)
  const tone = isAllClear(one) ? 'good' : isCritical(one.kind) && !hasEnded ? 'critical' : ''
  const icon = tone === 'good' ? 'check' : one.kind === 'checkInReminder' ? 'bell' : icons[kind]
  const href = one.details?.group ? '/together' : model.replica.contacts?.contacts.has(one.subject) ? `/contacts/${one.subject}` : undefined
  const text = sentence(one, personName(one.subject))
  const markRead = () => isUnread(one) && act('MarkRead', { id: one.id })
  return h('div', { class: `row ${isNews(one) ? 'unread' : ''} ${tone}`, 'data-shows': one.id },
    h('span', { class: `portrait kind-${kind} ${tone || (hasEnded ? 'over' : '')}` }, iconOf(icon)),
    href ? h('a', { class: 'row-text', href, onclick: markRead }, h('strong', {}, text), when(one, hasEnded))
      : h('div', { class: 'row-text' }, h('strong', {}, text), when(one, hasEnded)),
    isNews(one) && button(iconOf('check'), markRead, { kind: 'round', title: 'Mark as read', 'aria-label': `Mark as read: ${text}` }))
}

const when = (one, hasEnded) => h('small', { title: moment(one.created) }, ago(one.created), hasEnded && ' · over', one.cleared && ' · cleared')
