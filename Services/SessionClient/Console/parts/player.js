/** The player: a bar on every page, and the sheet that it opens into (M2). Both show the same state. */
import { h } from '../core/view.js'
import { t } from '../core/language.js'
import { model, changed } from '../core/model.js'
import { now, second, time } from '../core/time.js'
import { dequeue, next, player, playOrPause, seek, share, showPlayer, skip } from '../core/player.js'
import { positionOf } from '../state/playback.js'
import { isAlone } from '../state/player.js'
import { trackOf } from '../state/catalogue.js'
import { iconOf } from './icons.js'
import { nameIn } from './names.js'
import { button, toggle } from './pieces.js'

const tints = 8

/** A picture of a track: its tint. Pictures of others' addresses aren't loaded. */
export function artwork(content = '', size = '') {
  const tint = [...content].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % tints
  return h('span', { class: `artwork tint-${tint} ${size}`, 'aria-hidden': 'true' }, iconOf('note'))
}

const playButton = ({ playback }, kind) =>
  button(iconOf(playback.isPlaying ? 'pause' : 'play'), playOrPause, { kind: `round ${kind}`, 'aria-label': playback.isPlaying ? t`Pause` : t`Play` })

const titleOf = (item) => item?.title ?? t`Not playing`
const byOf = (item) => trackOf(item?.content)?.by

/** The bar. Where nothing plays it is on the pages about listening alone. */
export function bar() {
  const session = player()
  const item = session?.playback?.item
  if (!item && !['/listen', '/search'].includes(model.route.path)) return undefined
  const position = item && positionOf(session.playback, now())
  return h('section', { class: 'player-bar', key: 'player-bar', 'aria-label': t`Player` },
    h('button', { type: 'button', class: 'player-open', disabled: !item, onclick: () => showPlayer(true), 'aria-label': item ? t`Open the player: ${item.title}` : t`Not playing` },
      artwork(item?.content), h('span', {}, h('strong', {}, titleOf(item)), h('small', {}, item ? byOf(item) ?? '' : t`Choose something to listen to`))),
    item && playButton(session, 'primary'),
    item && button(iconOf('next'), next, { kind: 'round', 'aria-label': t`Next`, disabled: !session.queue.length }),
    item?.duration && h('progress', { class: 'player-progress', max: item.duration, value: position, 'aria-label': t`Played` }))
}

/** Where somebody drags the position to. */
let seeking

/** The whole player. */
export function sheet() {
  const session = player()
  if (!model.isPlayerShown || !session?.playback) return undefined
  const { playback, queue } = session
  const { item } = playback
  const position = seeking ?? positionOf(playback, now())
  return h('dialog', {
    key: 'player-sheet', class: 'dialog sheet', 'aria-labelledby': 'player-title',
    mount: (element) => { element.showModal(); return () => element.close() },
    oncancel: (event) => { event.preventDefault(); showPlayer(false) },
    onclick: (event) => { if (event.target === event.currentTarget) showPlayer(false) },
  }, h('div', { class: 'sheet-inside' },
    h('div', { class: 'title-line' }, h('span', { class: 'hint' }, whoListens(session)), button(t`Close`, () => showPlayer(false), { kind: 'link' })),
    artwork(item?.content, 'large'),
    h('div', { class: 'centred' }, h('h2', { id: 'player-title' }, titleOf(item)), h('p', { class: 'hint' }, byOf(item) ?? '')),
    item && [
      item.duration && h('div', { class: 'seek' },
        h('label', { class: 'visually-hidden', for: 'player-position' }, t`Position`),
        h('input', {
          id: 'player-position', type: 'range', min: 0, max: item.duration, step: second, value: String(Math.floor(position / second) * second),
          'aria-valuetext': t`${time(position)} of ${time(item.duration)}`,
          oninput: (event) => { seeking = Number(event.target.value); changed() },
          onchange: (event) => { seeking = undefined; seek(Number(event.target.value)) },
        }),
        h('div', { class: 'times' }, h('span', {}, time(position)), h('span', {}, `−${time(item.duration - position)}`))),
      h('div', { class: 'transport' },
        button(iconOf('rewind'), () => skip(-15 * second), { kind: 'round', 'aria-label': t`Back 15 seconds` }),
        playButton(session, 'primary large'),
        button(iconOf('forward'), () => skip(15 * second), { kind: 'round', 'aria-label': t`On 15 seconds` }),
        button(iconOf('next'), next, { kind: 'round', 'aria-label': t`Next`, disabled: !queue.length })),
    ],
    queue.length > 0 && h('section', { 'aria-labelledby': 'queue-title' }, h('h3', { id: 'queue-title' }, t`Up next`),
      h('ul', { class: 'plain' }, queue.map(({ id, title, content }) => h('li', { key: id, class: 'line' },
        artwork(content), h('span', {}, h('strong', {}, title), h('small', {}, trackOf(content)?.by)),
        button(t`Remove`, () => dequeue(id), { kind: 'small', 'aria-label': t`Remove ${title}` }))))),
    session.host === model.account.account && toggle(t`My contacts may listen along`, !isAlone(session), share, { hint: t`They find it under Together` })))
}

function whoListens({ participants, capacity }) {
  const others = participants.filter(({ id }) => id !== model.account.account)
  if (capacity === 1) return t`On your devices`
  return others.length ? t`With ${others.map(({ id }) => nameIn(id)).join(', ')}` : t`Nobody else is here yet`
}

/** What the page of a listening session says of it. */
export const nowPlaying = ({ playback }) => h('section', { class: 'card line-card', 'aria-labelledby': 'group-title' },
  artwork(playback?.item?.content), h('div', {}, h('h1', { id: 'group-title' }, t`Listening`), h('p', { class: 'hint' }, titleOf(playback?.item))),
  playback?.item ? button(t`Open the player`, () => showPlayer(true), { kind: 'primary' }) : h('a', { class: 'button primary', href: '/listen' }, t`Choose something`))
