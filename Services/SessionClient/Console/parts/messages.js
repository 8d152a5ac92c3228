/** What people in a group session say to each other: the seven kinds of messages that all apps know, and those of others. */
import { h } from '../core/view.js'
import { plural, t } from '../core/language.js'
import { model, changed } from '../core/model.js'
import { moment, now, second } from '../core/time.js'
import { draft, setDraft } from '../core/drafts.js'
import { problemOf } from '../core/problems.js'
import { act, attempt, command } from '../core/actions.js'
import { messagesOf, signal } from '../net/messages.js'
import { drop } from '../net/outbox.js'
import { spoken } from '../state/messages.js'
import { iconOf } from './icons.js'
import { inGroup, nameIn } from './names.js'
import { button, portrait, refusal } from './pieces.js'

const emojis = ['👍', '❤️', '😂', '🎉']
/** How many are shown until somebody asks for more. */
const step = 100
let shown = step
/** The message for which somebody chooses a reaction. */
let picking

/** Sends a message of any kind. */
export const say = (group, type, data, at = 'messages') => act('SendGroupMessage', { group, type, data }, undefined, at)

export function messages({ group }) {
  const history = messagesOf(group)
  const { lines, reactions } = spoken(history.list)
  const latest = lines.slice(-shown)
  return h('section', { class: 'card', 'aria-labelledby': 'messages-title' },
    h('h2', { id: 'messages-title' }, t`Messages`),
    h('div', { class: 'log', role: 'log', 'aria-labelledby': 'messages-title', tabindex: 0, mount: stayAtEnd }, h('ol', {},
      lines.length > shown && h('li', { key: 'earlier', class: 'centred' }, button(t`Show earlier ones`, () => { shown += step; changed() }, { kind: 'small' })),
      history.hasFailed && h('li', { key: 'failed', class: 'aside' }, t`Earlier ones couldn’t be read.`, ' ', button(t`Try again`, history.retry, { kind: 'small' })),
      latest.map((message) => line(group, message, reactions.get(message.number), history.list)),
      model.outbox.filter(isText(group)).map((entry) => (entry.state === 'refused' ? refusedLine(entry) : waitingLine(entry))),
      !lines.length && !history.isLoading && h('li', { key: 'none', class: 'aside' }, t`Nobody has said anything yet.`))),
    h('p', { class: 'typing', role: 'status' }, typing(group)),
    composer(group, history.list))
}

const isText = (group) => ({ path, fields }) => path.endsWith('/SendGroupMessage') && fields.group === group && fields.type === 'text'

const waitingLine = ({ id, fields: { data } }) =>
  h('li', { key: `waiting-${id}`, class: 'message mine' }, h('p', { class: 'bubble' }, data.text), h('small', {}, t`sending…`))

/** One that nobody waited for any more when it was refused, or when it was too late for it. */
function refusedLine({ id, fields: { group, type, data }, problem }) {
  const again = async () => { await drop(id); say(group, type, data) }
  return h('li', { key: `waiting-${id}`, class: 'message mine' }, h('div', {},
    h('p', { class: 'bubble' }, data.text), h('p', { class: 'problem', role: 'alert' }, problem.message),
    button(t`Send again`, again, { kind: 'mini' }), button(t`Drop`, () => drop(id), { kind: 'mini' })))
}

function line(group, message, reactions = [], list) {
  const { number, account, type, data, at } = message
  const isMine = account === model.account.account
  if (type !== 'text') return h('li', { key: number, class: 'aside', title: moment(at) }, words(message))
  const answered = data.replyTo && list.find((one) => one.number === data.replyTo)
  return h('li', { key: number, class: `message ${isMine ? 'mine' : ''}` },
    !isMine && portrait(account, inGroup(account), model.replica.people.get(account)?.avatar),
    h('div', {},
      !isMine && h('small', {}, nameIn(account)),
      h('div', { class: 'bubble' },
        answered && h('p', { class: 'quote' }, `${nameIn(answered.account)}: ${answered.data?.text ?? answered.type}`),
        h('p', {}, data.text)),
      reactions.length > 0 && h('p', { class: 'reactions' }, reactions.map(({ emoji, accounts }) =>
        h('span', { key: emoji, class: 'reaction', title: accounts.map(nameIn).join(', ') }, emoji, accounts.length > 1 && ` ${accounts.length}`))),
      h('small', { class: 'message-foot' }, moment(at),
        button(t`Reply`, () => { setDraft(formOf(group), { replyTo: number }); document.querySelector('#message')?.focus() }, { kind: 'mini', 'aria-label': t`Reply to: ${data.text.slice(0, 80)}` }),
        picking === number
          ? emojis.map((emoji) => button(emoji, () => { picking = undefined; say(group, 'reaction', { emoji, message: number }) }, { kind: 'mini', 'aria-label': t`React with ${emoji}` }))
          : button(t`React`, () => { picking = number; changed() }, { kind: 'mini', 'aria-label': t`React to: ${data.text.slice(0, 80)}` }))))
}

/** What a message that isn't a text says. */
function words({ account, type, data }) {
  const name = nameIn(account)
  const isMe = account === model.account.account
  switch (type) {
    case 'reaction': return `${name} ${data.emoji}`
    case 'ready':
      if (isMe) return data.isReady ? t`You are ready` : t`You are not ready`
      return data.isReady ? t`${name} is ready` : t`${name} is not ready`
    case 'action': return data.name !== 'wave' ? t`${name} did “${data.name}”` : isMe ? t`You wave` : t`${name} waves`
    case 'score': {
      const points = plural(data.points, t`${data.points} point`, t`${data.points} points`)
      return data.participant ? t`${name} got ${points} for ${nameIn(data.participant)}` : t`${name} got ${points}`
    }
    default: return t`${name} sent “${type}”, which this page doesn’t know`
  }
}

const formOf = (group) => `message/${group}`

function composer(group, list) {
  const form = formOf(group)
  const { text = '', replyTo } = draft(form)
  const answered = replyTo && list.find((one) => one.number === replyTo)
  const send = async (event) => {
    event.preventDefault()
    const said = text.trim()
    if (!said) return
    setDraft(form, { text: '', replyTo: undefined })
    tellTyping(group, false)
    // What was refused isn't lost.
    const isSaid = await attempt(() => command('SendGroupMessage', { group, type: 'text', data: { text: said, replyTo } }), undefined, { at: 'messages' })
    if (!isSaid && problemOf('messages')) setDraft(form, { text: said, replyTo })
  }
  const input = (event) => {
    setDraft(form, { text: event.target.value })
    tellTyping(group, Boolean(event.target.value))
  }
  return h('form', { class: 'composer', onsubmit: send, 'aria-label': t`Write a message` },
    answered && h('p', { class: 'quote' }, h('span', {}, t`Reply to ${nameIn(answered.account)}: ${answered.data.text}`), button(t`Don’t reply`, () => setDraft(form, { replyTo: undefined }), { kind: 'mini' })),
    h('div', { class: 'composer-line' },
      h('label', { class: 'visually-hidden', for: 'message' }, t`Message`),
      h('textarea', {
        id: 'message', rows: 1, maxlength: 4000, placeholder: t`Message`, value: text, oninput: input, onblur: () => tellTyping(group, false),
        onkeydown: (event) => { if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) send(event) },
      }),
      h('button', { class: 'button round primary', 'aria-label': t`Send`, disabled: !text.trim() }, iconOf('send'))),
    refusal('messages'),
    h('div', { class: 'composer-line quick' },
      button(`👋 ${t`Wave`}`, () => say(group, 'action', { name: 'wave' }), { kind: 'small' }),
      emojis.slice(1).map((emoji) => button(emoji, () => say(group, 'reaction', { emoji }), { kind: 'small', 'aria-label': t`Send ${emoji}` }))))
}

/** For how long somebody is said to be typing after the last sign of it, and how often that is sent. */
const typingLasts = 6 * second
const typingRepeats = 3 * second
let toldTyping = { isTyping: false, at: 0 }

function tellTyping(group, isTyping) {
  if (isTyping === toldTyping.isTyping && (!isTyping || now() - toldTyping.at < typingRepeats)) return
  toldTyping = { isTyping, at: now() }
  signal(group, 'typing', { isTyping })
}

function typing(group) {
  const names = [...(model.replica.signals.get(group)?.values() ?? [])]
    .filter(({ topic, account, data, at }) => topic === 'typing' && data?.isTyping && account !== model.account.account && now() - at < typingLasts)
    .map(({ account }) => nameIn(account))
  const list = names.join(', ')
  return names.length ? plural(names.length, t`${list} is typing…`, t`${list} are typing…`) : ''
}

/** Keeps the end of the list in sight, unless somebody scrolled back. */
function stayAtEnd(element) {
  let isAtEnd = true
  const follow = () => { if (isAtEnd) element.scrollTop = element.scrollHeight }
  const scrolled = () => { isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < 40 }
  const observer = new MutationObserver(follow)
  observer.observe(element, { childList: true, subtree: true })
  element.addEventListener('scroll', scrolled, { passive: true })
  follow()
  return () => observer.disconnect()
}
