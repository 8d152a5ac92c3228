/** `/`: checking in, the alert, and what waits for me. */
import { h } from '../core/view.js'
import { plural, t } from '../core/language.js'
import { model } from '../core/model.js'
import { ago, moment, now } from '../core/time.js'
import { act, attempt, command, operate, underway } from '../core/actions.js'
import { isCritical, sentence } from '../core/words.js'
import { isHeldUp } from '../net/outbox.js'
import { isUnread } from '../state/notifications.js'
import { alarmsOf, hearingOrder, isOver, kindOf, respondersOf } from '../state/alarms.js'
import { levels, statusText } from '../state/lists.js'
import { answerLine, answers } from '../parts/answers.js'
import { confirm } from '../parts/dialogs.js'
import { pingEscalationChoice, pingEscalationRefusal } from '../parts/ping-settings.js'
import { countsFrom, dailyChoice, dailyRefusal, earlyWords } from '../parts/daily-times.js'
import { graceChoice, intervalChoice, pauseChoice, reminderChoice, tierChoice } from '../parts/check-in-settings.js'
import { iconOf } from '../parts/icons.js'
import { personName } from '../parts/names.js'
import { badge, button, portrait, refusal, ring, waitingPage } from '../parts/pieces.js'
import { outbox } from '../parts/outbox-list.js'
import { isAlone, isDoubtful, listed, reach, responderNames, warning } from '../parts/reach.js'
import { requestCard, roleRequestCard } from '../parts/requests.js'
import { tripCard } from '../parts/trip.js'
import { drillCard, drillLine, drillsOf } from '../parts/drill.js'

export function home() {
  const account = model.replica?.account
  if (!account) return waitingPage()
  const asking = askers()
  return h('div', { class: `columns ${alarmsOf(model.replica, now()).length ? 'urgent' : ''}` },
    h('div', {}, outbox(), reach(), alarm(account), checkIn(account, asking), tripCard(account), drillCard(account)),
    waitingForMe(asking))
}

/** The cards of those who ask whether one is all right. */
const askers = () => [...(model.replica.contacts?.contacts.values() ?? [])].filter((contact) => contact.incomingPing)
  .map((contact) => ({ contact, person: model.replica.people.get(contact.account) }))

/** What a button says while what it sent isn't decided. */
const sending = (entry) => (isHeldUp(entry) ? t`Not sent yet` : t`Sending…`)

function checkIn({ checkIn, name }, asking) {
  const entry = underway('CheckIn')
  const allRight = button(entry ? sending(entry) : t`I’m all right`, () => sayAllRight(asking), { kind: 'primary huge', disabled: Boolean(entry), key: 'all-right' })
  // By its key it stays what it is, its choices unfolded, when a card appears above it.
  return h('section', { key: 'check-in', class: 'card check-in', 'aria-labelledby': 'check-in-title', 'data-shows': (checkIn.missed || checkIn.graceEnds) && 'checkInMissed' },
    h('h1', { id: 'check-in-title' }, name ? t`Are you all right, ${name}?` : t`Are you all right?`),
    asking.length > 0 && [h('p', { class: 'notice warning' }, asksWords(asking), dueWords(asking)), allRight],
    ring(checkIn, now(), isAlone()),
    checkIn.missed && answers(checkIn.alarm),
    asking.length === 0 && allRight,
    refusal('check-in'), refusal('answers'),
    h('p', { class: 'hint' }, checkIn.last ? t`Last check-in ${ago(checkIn.last)}, ${moment(checkIn.last)}` : t`You haven’t checked in yet.`),
    countsFrom(checkIn), othersHear(checkIn),
    h('details', {}, h('summary', {}, t`How often, reminders, pauses`), intervalChoice(), dailyChoice(), reminderChoice(), graceChoice(), tierChoice(), pauseChoice(), pingEscalationChoice()),
    // Seen also when the choices are folded away.
    refusal('interval'), dailyRefusal(), refusal('reminders'), refusal('grace'), refusal('tiers'), refusal('pause'), pingEscalationRefusal())
}

/** By when to check in, and who hears otherwise; the page says elsewhere if nobody does. */
function othersHear({ due, missed, grace, graceEnds }) {
  if (missed || model.isKept || isAlone()) return undefined
  const time = due > now() ? due + (grace ?? 0) : graceEnds
  if (!(time > now())) return undefined
  const [first, ...later] = hearingOrder(model.replica)
  if (!first) return undefined
  const names = ({ responders }) => listed(responders.map(personName))
  const rest = later.map((tier) => t`, ${names(tier)} at ${moment(time + tier.after)}`).join('')
  const [by, those] = [moment(time), names(first)]
  return h('p', { class: 'hint' }, plural(first.responders.length, t`If you don’t check in by ${by}, ${those} hears of it then${rest}.`, t`If you don’t check in by ${by}, ${those} hear of it then${rest}.`))
}

function asksWords(asking) {
  const [first, second] = asking.map(({ contact }) => personName(contact.account))
  if (asking.length === 1) return t`${first} asks whether you are all right`
  return asking.length === 2 ? t`${first} and ${second} ask whether you are all right` : t`${first} and ${asking.length - 1} others ask whether you are all right`
}

/** By when somebody has to be answered, so that no alert is raised. */
function dueWords(asking) {
  const due = Math.min(...asking.map(({ contact }) => contact.incomingPingDue).filter((time) => time > now()))
  return Number.isFinite(due) && ` ${t`If you don’t answer by ${moment(due)}, your responders are told.`}`
}

const answersAtOnce = 8

/** Checks in, and answers everybody who asks. */
function sayAllRight(asking) {
  if (!asking.length) return act('CheckIn', {}, (reply) => earlyWords(reply) ?? t`Checked in`, 'check-in')
  // One of a moment ago is as good.
  const asGood = (error) => { if (error.code !== 'tooSoon') throw error }
  attempt(() => command('CheckIn').catch(asGood), earlyWords, { at: 'check-in', isUrgent: true })
  // Each answer goes by itself, before anything else; of a crowd, all in one.
  if (asking.length > answersAtOnce) operate('RespondToAllPings', { upTo: Math.max(...asking.map(({ contact }) => contact.incomingPing)) }, t`Answered`, 'answers')
  else for (const { contact } of asking) answer(contact)
}

/** Answers the ping that is shown, and no later one. */
const answer = (contact) => act('RespondToPing', { contact: contact.account, sent: contact.incomingPing, pressed: now() }, t`Answered`, 'answers')

/** Why an alert is on that unanswered pings have made, and what ends it. */
function pingWords({ unanswered, trip }) {
  if (!unanswered) return undefined
  const names = listed(unanswered.pings.map(({ contact }) => personName(contact)))
  if (unanswered.isCalled) return t`You haven’t answered ${names} either.`
  // One that was taken back since can’t be answered here.
  const canAnswer = unanswered.pings.every(({ contact }) => model.replica.contacts?.contacts.get(contact)?.incomingPing)
  if (trip?.alarm) {
    return canAnswer ? t`You haven’t answered ${names}, and haven’t said that you arrived. Do both if you are all right: that ends it.`
      : t`You haven’t answered ${names}, and haven’t said that you arrived. Say so, or end the alert, if you are all right.`
  }
  return canAnswer ? t`You haven’t answered ${names}. Answer or check in if you are all right: that ends it.`
    : t`You haven’t answered ${names}. Check in or end the alert if you are all right.`
}

const allClearWords = (names, count) => (model.connection.name === 'connected'
  ? plural(count, t`${names} gets the all-clear at once.`, t`${names} get the all-clear at once.`)
  : plural(count, t`${names} gets the all-clear when the connection is back.`, t`${names} get the all-clear when the connection is back.`))

function alarm(account) {
  const { alertRaised, alertAlarm, lateCall } = account
  const count = respondersOf(model.replica)?.length
  const raise = async () => {
    const isSure = await confirm({
      title: t`Raise an alert?`, action: () => (isDoubtful() ? t`Raise it anyway` : t`Raise the alert`),
      text: () => (model.connection.name !== 'connected' ? t`You are offline: nobody is told until the connection is back. Call somebody.`
        : warning(false) ?? t`It is sent to ${responderNames() || t`your responders`} at once.`),
    })
    if (isSure) act('RaiseAlert', { pressed: now() }, t`Your alert is on`, 'alert')
  }
  const end = async () => {
    const isSure = await confirm({
      title: t`Are you safe?`, action: t`End the alert`, kind: 'primary',
      text: () => (count === 0 ? t`Then your alert is over. Nobody looks after you.`
        : allClearWords(responderNames() || t`Your responders`, count)),
    })
    if (isSure) act('ClearAlert', { alarm: alertAlarm, pressed: now() }, t`Your alert is over`, 'alert')
  }
  // Whether an alert of an earlier time is still on isn't known. Asking for help again does no harm.
  const isOn = alertRaised && !model.isKept
  const entry = underway(isOn ? 'ClearAlert' : 'RaiseAlert')
  const again = underway('RaiseAlert')
  if (!isOn) {
    return h('section', { class: 'card alert-card', 'aria-label': t`Alert` },
      alertRaised && h('p', {}, t`Your alert of ${moment(alertRaised)} was on then. Whether it still is isn’t known.`),
      h('p', {}, t`Do you need help?`),
      button([iconOf('alert'), entry ? sending(entry) : t`Raise an alert`], raise, { kind: 'danger', disabled: Boolean(entry) }), refusal('alert'))
  }
  return h('section', { class: 'card alert-card is-on', 'aria-label': t`Alert`, role: 'alert', 'data-shows': 'alertRaised' },
    h('p', {}, h('strong', {}, t`Your alert is on`), h('br'), t`since ${moment(alertRaised)}`, h('br'),
      lateCall && [t`You called for help at ${moment(lateCall.pressed)}, received ${moment(lateCall.received)}`, h('br')], pingWords(account) && [pingWords(account), h('br')],
      warning(true) ?? (count > 0 && t`It goes to ${responderNames()}.`)),
    count > 0 && answers(alertAlarm),
    h('div', { class: 'actions' }, button(entry ? sending(entry) : t`End the alert`, end, { disabled: Boolean(entry) }),
      button(again ? sending(again) : t`I still need help`, () => act('RaiseAlert', { pressed: now() }, t`Asked again`, 'alert'), { kind: 'danger', disabled: Boolean(again) })),
    refusal('alert'))
}

function waitingForMe(asking) {
  const { contacts, people, notifications, groups } = model.replica
  const inTrouble = alarmsOf(model.replica, now())
  const requests = [...(contacts?.requests.values() ?? [])].filter((one) => one.direction === 'incoming')
  const roles = [...(contacts?.contacts.values() ?? [])].filter((contact) => contact.incomingRoleRequest)
    .map((contact) => ({ contact, person: people.get(contact.account) }))
  // Those that are on stand above every page.
  const over = (notifications?.notifications ?? []).filter((one) => isUnread(one) && isCritical(one.kind) && isOver(one, model.replica)).slice(0, 5)
  const invitations = (groups ?? []).filter(({ standing }) => standing === 'invited')
  const drills = drillsOf(model.replica)
  const isEmpty = ![asking, inTrouble, drills, requests, roles, over, invitations].some((list) => list.length)
  return h('section', { class: 'card', 'aria-labelledby': 'waiting-title' },
    h('h2', { id: 'waiting-title' }, t`What waits for you`),
    isEmpty && h('div', { class: 'empty' }, !model.isKept && !isAlone() && iconOf('check'), h('p', {}, model.isKept ? t`There were no alarms then.` : t`Nothing. There are no alarms.`)),
    inTrouble.length > 0 && [h('h3', {}, t`Look after`), h('ul', { class: 'plain' }, inTrouble.map(trouble))],
    asking.length > 0 && [h('h3', {}, t`They ask whether you are all right`), h('ul', { class: 'plain' }, asking.map(ping))],
    drills.length > 0 && [h('h3', {}, t`Drills`), h('ul', { class: 'plain' }, drills.map(drillLine))],
    requests.length > 0 && [h('h3', {}, t`Requests`), h('ul', { class: 'plain' }, requests.map(requestCard))],
    roles.length > 0 && [h('h3', {}, t`They want to look after you`), h('ul', { class: 'plain' }, roles.map(roleRequestCard))],
    invitations.length > 0 && [h('h3', {}, t`Invitations`), h('ul', { class: 'plain' }, invitations.map(invitation))],
    over.length > 0 && [h('h3', {}, t`Over, and not read yet`), h('ul', { class: 'plain' }, over.map((one) =>
      h('li', { key: one.id, class: 'line', 'data-shows': one.id },
        h('a', { href: '/notifications' }, h('s', {}, sentence(one, personName(one.subject))), h('small', {}, overWords(one))))))])
}

/** How an alarm ended, as far as it is known. */
function overWords({ kind, subject, created }) {
  const { checkIn } = (kind === 'checkInMissed' ? model.replica.account : model.replica.people.get(subject)) ?? {}
  const isMissed = ['checkInMissed', 'dependentCheckInMissed'].includes(kind)
  return isMissed && checkIn?.last > created ? t`over: checked in ${moment(checkIn.last)}` : t`over; it began ${ago(created)}`
}

const trouble = ({ card, card: { contact, person }, level }) =>
  h('li', { key: contact.account, class: 'line', 'data-shows': `${kindOf(level)}/${contact.account}` },
    portrait(contact.account, personName(contact.account), person?.avatar),
    h('a', { href: `/contacts/${contact.account}` }, h('strong', {}, personName(contact.account)), h('small', {}, statusText(card, level, now())),
      h('small', {}, answerLine(contact, person))),
    badge(levels[level].title(), levels[level].tone))

const ping = ({ contact, person }) =>
  h('li', { key: contact.account, class: 'line' },
    portrait(contact.account, personName(contact.account), person?.avatar),
    h('a', { href: `/contacts/${contact.account}` }, h('strong', {}, personName(contact.account)), h('small', {}, t`asked ${ago(contact.incomingPing)}`)),
    button(t`Only answer`, () => answer(contact), { kind: 'small', 'aria-label': t`Only answer ${personName(contact.account)}` }))

const invitation = ({ group, activity, host }) =>
  h('li', { key: group, class: 'line' },
    portrait(host ?? group, host ? personName(host) : '?', model.replica.people.get(host)?.avatar),
    h('span', {}, h('strong', {}, activity.title), h('small', {}, host && t`from ${personName(host)}`)),
    h('a', { class: 'button small', href: '/together' }, t`Look`))
