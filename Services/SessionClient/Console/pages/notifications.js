/** `/notifications`: unread first, by category, back to the beginning of the history. */
import { h } from '../core/view.js'
import { t } from '../core/language.js'
import { model, changed } from '../core/model.js'
import { ago, moment, now } from '../core/time.js'
import { act, attempt } from '../core/actions.js'
import { go } from '../core/router.js'
import { isCritical, isDoubtful, sentence } from '../core/words.js'
import { older, readOlder } from '../net/history.js'
import { isOver } from '../state/alarms.js'
import { category, isAllClear, isOwnDeed, isUnread, unreadOf } from '../state/notifications.js'
import { iconOf } from '../parts/icons.js'
import { personName } from '../parts/names.js'
import { open } from '../parts/dialogs.js'
import { button, choices, empty, refusal, toggle, waitingPage } from '../parts/pieces.js'
import { gotIt, isOpenDrill } from '../parts/drill.js'
import { reminders } from '../parts/reminders.js'
import { changePassword } from '../parts/security.js'
import { rowHeight, virtualList } from '../parts/virtual-list.js'

const categories = () => ({ all: t`All`, alerts: t`Alerts`, pings: t`Pings`, relationships: t`Contacts`, group: t`Groups`, system: t`System` })
/** What is shown; all again when one comes back to the page. */
const everything = { show: 'all', isUnreadOnly: false }
let filter = everything
const choose = (next) => { filter = { ...filter, ...next }; changed() }

/** One's own deeds are no news, so they never look unread. */
const isNews = (one) => isUnread(one) && !isOwnDeed(one)
const isOn = (one) => isCritical(one.kind) && !isOver(one, model.replica)
const icons = { alerts: 'alert', pings: 'ping', relationships: 'people', group: 'people', system: 'gear' }

export function notifications() {
  const state = model.replica?.notifications
  if (!state) return waitingPage()
  const { show, isUnreadOnly } = filter
  const { list, isWhole, isReading } = older()
  const known = [...state.notifications, ...list]
  // No filter hides an alarm that is on.
  const isWanted = (one) => isOn(one) || ((show === 'all' || category(one.kind) === show) && (!isUnreadOnly || isNews(one)))
  const all = known.filter(isWanted)
  const isMoreUnread = state.unread > known.filter(isUnread).length
  const unread = all.filter(isNews)
  const rest = all.filter((one) => !isNews(one))
  const count = unreadOf(state)
  return h('section', { class: 'narrow wide', 'aria-labelledby': 'notifications-title', mount: () => () => { filter = everything } },
    h('div', { class: 'title-line' },
      h('h1', { id: 'notifications-title' }, t`Notifications`, count > 0 && h('span', { class: 'badge' }, count)),
      button(t`Mark all as read`, () => act('MarkAllRead', { upTo: newest(state) }, undefined, 'notifications'), { kind: 'small', disabled: state.unread === 0 || !state.notifications.length })),
    refusal('notifications'),
    reminders(state),
    h('div', { class: 'tools' },
      choices(t`Category`, categories(), show, (next) => choose({ show: next })),
      toggle(t`Only unread`, isUnreadOnly, (isOn) => choose({ isUnreadOnly: isOn }))),
    (show !== 'all' || isUnreadOnly) && h('p', { key: 'filter', class: 'hint', role: 'status' }, t`${all.length} of ${known.length} shown`, ' ',
      button(t`Show all`, () => choose(everything), { kind: 'link' })),
    all.length ? virtualList(t`Notifications`, [...group(t`Unread`, unread), ...group(t`Earlier`, rest)])
      : empty(t`Nothing here`, !isUnreadOnly ? t`What happens to you and your contacts shows up here.` : isMoreUnread ? t`Earlier ones are unread.` : t`Everything is read.`),
    !isWhole && state.notifications.length > 0 && (isMoreUnread || !isUnreadOnly)
      && h('p', { key: 'earlier', class: 'centred' }, button(t`Show earlier ones`, () => attempt(() => readOlder(isWanted), undefined, { at: 'earlier', isKept: false }), { disabled: isReading }), refusal('earlier')))
}

/** What comes later than what is shown stays unread, however late the request arrives. */
const newest = ({ notifications }) => notifications.reduce((latest, one) => Math.max(latest, one.created), 0)

const group = (title, list) => list.length === 0 ? [] : [
  { key: title, height: 40, view: () => h('h2', { class: 'group' }, title) },
  ...list.map((one) => ({ key: one.id, height: rowHeight(), view: () => row(one) })),
]

function row(one) {
  const kind = category(one.kind)
  const hasEnded = isOver(one, model.replica)
  const tone = isAllClear(one) ? 'good' : isCritical(one.kind) && !hasEnded ? 'critical' : ''
  const icon = tone === 'good' ? 'check' : one.kind === 'checkInReminder' || one.details?.reminder !== undefined ? 'bell' : icons[kind]
  const isAsking = isDoubtful(one, now())
  const href = isAsking ? '/me#devices' : one.details?.group ? '/together' : model.replica.contacts?.contacts.has(one.subject) ? `/contacts/${one.subject}` : undefined
  const isAboutMe = !one.subject || one.subject === model.account?.account
  const text = sentence(one, one.kind === 'system' && isAboutMe ? undefined : personName(one.subject))
  const markRead = () => isUnread(one) && act('MarkRead', { id: one.id })
  return h('div', { class: `row ${isNews(one) ? 'unread' : ''} ${isAsking ? 'asking' : ''} ${tone}`, 'data-shows': one.id },
    h('span', { class: `portrait kind-${kind} ${tone || (hasEnded ? 'over' : '')}` }, iconOf(icon)),
    href ? h('a', { class: 'row-text', href, onclick: markRead }, h('strong', {}, text), when(one, hasEnded))
      : h('div', { class: 'row-text' }, h('strong', {}, text), when(one, hasEnded)),
    isAsking && button(t`This wasn’t me`, () => notMe(one), { kind: 'small', 'aria-label': t`This wasn’t me: ${text}` }),
    isOpenDrill(one) && gotIt(one),
    isNews(one) && button(iconOf('check'), markRead, { kind: 'round', title: t`Mark as read`, 'aria-label': t`Mark as read: ${text}` }))
}

/** What to do when somebody else may be in the account. */
async function notMe(one) {
  const next = await open((close, id) => [
    h('h2', { id }, t`This wasn’t you?`),
    h('p', {}, t`“${sentence(one, '')}.” Somebody else may be in your account. Change the password: that signs all other devices out.`),
    h('p', {}, t`Then look at your phone number and make new recovery codes. A device that a stranger’s change signed out can take it back where it asks to sign in.`),
    h('div', { class: 'actions' },
      button(t`Cancel`, () => close()), button(t`Look at my devices`, () => close(() => go('/me#devices'))),
      button(t`Change the password`, () => close(changePassword), { kind: 'primary' })),
  ])
  next?.()
}

const when = (one, hasEnded) => h('small', { title: moment(one.created) }, ago(one.created), hasEnded && ` · ${t`over`}`, one.cleared && ` · ${t`cleared`}`)
