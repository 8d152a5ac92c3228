/** What responders answered to an alarm, and the ways to answer it. */
import { h } from '../core/view.js'
import { t } from '../core/language.js'
import { model } from '../core/model.js'
import { now } from '../core/time.js'
import { act, underway } from '../core/actions.js'
import { isHeldUp } from '../net/outbox.js'
import { alarmOf, answersTo, answerText, isAnswered } from '../state/alarms.js'
import { confirm } from './dialogs.js'
import { knownName } from './names.js'
import { button, refusal } from './pieces.js'

/** What one of them says. Another responder needn't be a contact; their name comes a moment later. */
const words = (one) => answerText(one, one.responder === model.account.account ? undefined : knownName(one.responder) || t`Another responder`, now())

/** Whether somebody who hears of a missed check-in later than others wasn't told yet, and so can't know who is on it. */
const isUntold = (person) => !person?.alertRaised && answersTo(alarmOf(person), model.replica).length === 0
  && !model.replica.notifications?.notifications.some(({ details }) => details?.alarm && details.alarm === alarmOf(person))

/** Who does something about an alarm, in a list; says so if nobody does. */
export function answers(alarm, isKnown = true) {
  const given = answersTo(alarm, model.replica)
  return [
    !isKnown && h('p', { class: 'hint' }, t`You may not have been told of this yet: then who is on it isn’t shown to you. You can answer all the same.`),
    isKnown && !isAnswered(given, now()) && h('p', { class: 'notice warning' }, model.isKept ? t`Nobody was on it then.` : t`Nobody is on it yet.`),
    given.length > 0 && h('ul', { class: 'plain answers' }, given.map((one) =>
      h('li', { key: one.responder, class: one.answer === 'needsHelp' ? 'critical' : '' }, words(one)))),
  ]
}

/** Whether one hears of a person's alarm, and so of who answers it. */
const hears = (contact, person) => person?.alertRaised || contact.notifyOnMissedCheckIn || answersTo(alarmOf(person), model.replica).length > 0

/** The first of them in a few words, for a line. */
export function answerLine(contact, person) {
  if (!hears(contact, person) || isUntold(person)) return undefined
  const [first] = answersTo(alarmOf(person), model.replica)
  const text = first ? words(first) : t`Nobody is on it yet`
  return model.isKept ? t`Then: ${text}` : text
}

/** The ways to answer the alarm of somebody whom one looks after. */
export function answering(one, person, name) {
  if (!hears(one, person)) return h('p', { class: 'hint' }, t`You don’t hear of missed check-ins of theirs, so who is on it isn’t shown to you.`)
  const contact = one.account
  const alarm = alarmOf(person)
  const entry = underway('AcknowledgeAlarm', { contact })
  const say = (answer, done, fields = {}) => act('AcknowledgeAlarm', { contact, alarm, answer, pressed: now(), ...fields }, done, 'answer')
  const safe = async () => {
    const isSure = await confirm({
      title: t`Is ${name} safe?`, action: t`I reached them`, kind: 'primary',
      text: () => t`Say so only if you saw ${name} or spoke with them. If nobody says otherwise, the alarm isn’t repeated for a day and then closed.`,
    })
    if (isSure) say('safe', t`The others see it`)
  }
  const waits = entry && h('p', { class: 'hint', role: 'status' }, isHeldUp(entry) ? t`Your answer isn’t sent yet.` : t`Sending your answer…`)
  return h('section', { class: 'answering', 'aria-labelledby': 'answering-title' },
    h('h2', { id: 'answering-title' }, t`Who is on it`), answers(alarm, !isUntold(person)), waits,
    h('div', { class: 'actions' },
      button(t`I’m on it`, () => say('onIt', t`The others see your answer`, { minutes: 30 }), { kind: 'primary' }),
      button(t`Reached, safe`, safe),
      button(t`Help is needed`, () => say('needsHelp', t`The others see that help is needed`), { kind: 'danger' }),
      button(t`I can’t`, () => say('cannot', t`The others see it`))),
    h('p', { class: 'hint' }, t`While somebody is on it, the others aren’t told again for half an hour. Help is needed tells everybody, at most every 15 minutes. Only they can give the all-clear.`),
    refusal('answer'))
}
