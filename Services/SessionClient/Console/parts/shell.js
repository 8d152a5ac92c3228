/** What is around every page: navigation, the connection, toasts and dialogs. */
import { h } from '../core/view.js'
import { t } from '../core/language.js'
import { model } from '../core/model.js'
import { moment } from '../core/time.js'
import { connectionWords } from '../core/words.js'
import { go } from '../core/router.js'
import { choose } from '../net/accounts.js'
import { retry } from '../net/live.js'
import { isIn } from '../state/group.js'
import { isAlone } from '../state/player.js'
import { isCritical } from '../core/words.js'
import { isUnread, unreadOf } from '../state/notifications.js'
import { isOver } from '../state/alarms.js'
import { alarmTitle, banners } from './banners.js'
import { dialogs } from './dialogs.js'
import { bar, sheet } from './player.js'
import { button, empty, noSuchPage, portrait } from './pieces.js'
import { iconOf } from './icons.js'

const links = () => [
  ['/', t`Home`, 'home'], ['/contacts', t`Contacts`, 'people'], ['/together', t`Together`, 'seats'],
  ['/listen', t`Listen`, 'note'], ['/notifications', t`Notifications`, 'bell'],
]
/** Pages that belong to another one's link. */
const homes = { '/search': '/listen' }

export function shell() {
  const { page } = model.route
  const isSignedIn = model.account && !model.account.signedOut
  return [
    h('a', { class: 'skip', href: '#main', onclick: (event) => { event.preventDefault(); document.querySelector('main').focus() } }, t`Skip to the page`),
    h('header', { class: 'top' },
      h('a', { class: 'brand', href: isSignedIn ? '/' : '/welcome' }, iconOf('logo'), h('span', {}, 'Quartet')),
      h('div', { class: 'top-end' }, model.account && connection(), isSignedIn && own())),
    isSignedIn && navigation(),
    h('main', { id: 'main', tabindex: '-1', key: 'main' },
      banners(), age(),
      h('div', { key: model.route.path }, page ? drawn(page) : noSuchPage('/', t`Go home`))),
    isSignedIn && bar(),
    h('div', { class: 'toasts', 'aria-live': 'polite' }, model.toasts.map(({ id, text, tone }) => h('p', { key: id, class: `toast ${tone}` }, text))),
    isSignedIn && sheet(),
    ...dialogs(),
  ]
}

function navigation() {
  const unread = unreadOf(model.replica?.notifications)
  const isAlarming = model.replica?.notifications?.notifications.some((one) => isUnread(one) && isCritical(one.kind) && !isOver(one, model.replica))
  const path = `/${location.pathname.split('/')[1]}`
  const current = homes[path] ?? path
  return h('nav', { class: 'tabs', 'aria-label': t`Pages` }, links().map(([path, title, icon]) =>
    h('a', { href: path, 'aria-current': path === current ? 'page' : undefined },
      iconOf(icon), h('span', {}, title),
      path === '/notifications' && unread > 0
        && h('span', { class: `count ${isAlarming ? 'critical' : ''}`, 'aria-label': t`${unread} unread` }, unread > 99 ? '99+' : unread))))
}

/** How old what is shown is, while nothing new comes. */
const age = () => model.connection.name !== 'connected' && model.lastLive
  && h('p', { class: 'hint age', key: 'age' }, t`As of ${moment(model.lastLive)}: there is no connection now.`)

/** A page, or that it failed: the way to the others stays. */
function drawn(page) {
  try {
    return page(model.route.params)
  } catch (error) {
    console.error(error)
    return empty(t`This page can’t be shown`, t`Something on it isn’t what it should be.`, h('a', { class: 'button', href: '/' }, t`Go home`))
  }
}

/** The way to one's own page. */
function own() {
  const { account, handle } = model.account
  const { name, avatar } = model.replica?.account ?? {}
  return h('a', { class: 'own', href: '/me', 'aria-label': t`Me`, 'aria-current': location.pathname === '/me' ? 'page' : undefined },
    portrait(account, name ?? handle ?? '?', avatar, 'small'))
}

/** The dot, what it means, and what to do about it. */
function connection() {
  const state = model.account.signedOut ? { name: 'needsAuthentication', reason: model.account.signedOut } : model.connection
  const isInSession = [...(model.replica?.group.values() ?? [])].some((one) => isIn(one, model.account.account) && !isAlone(one))
  const { text, detail, tone, canRetry } = connectionWords(state, isInSession)
  return h('div', { class: `connection ${tone}`, role: 'status', title: detail },
    h('span', { class: 'dot', 'aria-hidden': 'true' }),
    state.name === 'needsAuthentication'
      ? button(text, () => go('/welcome'), { kind: 'link' })
      : h('span', { class: 'connection-text' }, text),
    detail && h('span', { class: 'visually-hidden' }, `: ${detail}`),
    canRetry && button(t`Retry`, retry, { kind: 'small' }))
}

/** The title of the window: an alarm comes first, or the badge, where narrow tabs show it. */
export function title() {
  const alarm = alarmTitle()
  if (alarm) return `${alarm}Quartet`
  const unread = unreadOf(model.replica?.notifications)
  return `${unread ? `(${unread}) ` : ''}Quartet`
}

/** Chooses another account of this browser; the page then shows that one. */
export const switchAccount = async (account) => { await choose(account); go(account ? '/' : '/welcome') }
