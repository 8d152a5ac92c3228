/** `/together`: the group sessions that I am in or may join, and starting one (P3, P5). */
import { h } from '../core/view.js'
import { plural, t } from '../core/language.js'
import { model } from '../core/model.js'
import { draft, dropDraft, setDraft } from '../core/drafts.js'
import { ago } from '../core/time.js'
import { attempt, command, underway } from '../core/actions.js'
import { makeRoom } from '../core/player.js'
import { problemOf } from '../core/problems.js'
import { go } from '../core/router.js'
import { isAlone, isListening } from '../state/player.js'
import { inGroup, personName } from '../parts/names.js'
import { button, empty, field, portrait, refusal, refusals, toggle, waitingPage } from '../parts/pieces.js'

const form = 'together'

export function together() {
  if (!model.replica?.groups) return waitingPage()
  // One's own devices need no invitation.
  const groups = model.replica.groups.filter((one) => !isAlone(one))
  return h('div', { class: 'columns wide-first' },
    h('section', { 'aria-labelledby': 'together-title', class: 'stack' },
      h('h1', { id: 'together-title' }, t`Together`),
      groups.length ? groups.map(offer) : empty(t`No sessions yet`, t`Start one, or wait to be invited.`)),
    start())
}

function offer({ group, standing, host, activity, participants, created }) {
  const join = async () => {
    if (isListening({ activity })) await makeRoom()
    if (await attempt(() => command('JoinGroupSession', { group }), undefined, { at: `join-${group}` })) go(`/together/${group}`)
  }
  return h('article', { class: 'card line-card', key: group },
    portrait(host ?? group, host ? inGroup(host) : '?', model.replica.people.get(host)?.avatar),
    h('div', {}, h('h2', {}, activity.title), h('p', { class: 'hint' }, host && `${host === model.account.account ? t`with you as host` : t`with ${personName(host)} as host`}, `, t`started ${ago(created)}`)),
    standing === 'joined' ? h('a', { class: 'button primary', href: `/together/${group}` }, t`Open`)
      : button(underway('JoinGroupSession', { group }) ? t`Joining…` : plural(participants, t`Join with ${participants} player`, t`Join with ${participants} players`), join, { kind: 'primary' }),
    refusal(`join-${group}`))
}

function start() {
  const { title = t`Four in a row`, isOpenToContacts = true } = draft(form)
  const isStarting = Boolean(underway('CreateGroupSession'))
  const create = async (event) => {
    event.preventDefault()
    const reply = await attempt(() => command('CreateGroupSession', {
      activity: { identifier: 'quartet.four-in-a-row', title: title.trim(), type: 'generic' }, isOpenToContacts, seats: 5,
    }), undefined, { at: form })
    if (!reply?.result) return
    dropDraft(form)
    go(`/together/${reply.result.group}`)
  }
  const { at, rest } = refusals(problemOf(form))
  return h('form', { class: 'card', onsubmit: create },
    h('h2', {}, t`Start a session`),
    field(t`Title`, { id: 'group-title', required: true, maxlength: 100, value: title, oninput: (event) => setDraft(form, { title: event.target.value }) }, { problem: at('activity.title') }),
    toggle(t`My contacts may join`, isOpenToContacts, (isOn) => setDraft(form, { isOpenToContacts: isOn })),
    rest(),
    h('button', { class: 'button primary', disabled: isStarting }, isStarting ? t`Starting…` : t`Start`))
}
