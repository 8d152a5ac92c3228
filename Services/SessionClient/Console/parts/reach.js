/** Who is told when one misses a check-in or raises an alert: said before anything that looks as if all were well. */
import { h } from '../core/view.js'
import { both, plural, t } from '../core/language.js'
import { model } from '../core/model.js'
import { unreachableWarning } from '../core/words.js'
import { respondersOf } from '../state/alarms.js'
import { iconOf } from './icons.js'
import { personName } from './names.js'

/** Whether nobody would be told. False while that isn't known. */
export const isOutOfReach = () => respondersOf(model.replica)?.length === 0

/** Whether a missed check-in may reach nobody. */
export const isAlone = () => isOutOfReach() || ['nobody', 'unreachable'].includes(model.replica.contacts?.responderReach)

/** Who they are, in a sentence. */
export const responderNames = () => listed(respondersOf(model.replica) ? namesOf() : [])

/** `Anna`, `Anna and Bob`, `Anna, Bob and 3 more`. */
export function listed(names) {
  return both(names.length > 3 ? [...names.slice(0, 2), t`${names.length - 2} more`] : names)
}

/** Whether an alert may well reach nobody. */
export const isDoubtful = () => isOutOfReach() || model.replica.contacts?.responderReach === 'unreachable'

/**
 * What somebody has to know whose alert may reach nobody; undefined otherwise. Those who don't hear of missed check-ins hear of
 * alerts, but nobody knows whether they can be reached.
 */
export function warning(isRaised) {
  if (isOutOfReach()) return isRaised ? t`Nobody looks after you, so nobody is told. Call somebody.` : t`Nobody looks after you, so nobody would be told. Call somebody.`
  const names = responderNames()
  const reason = () => unreachableWarning(namesOf())
  switch (model.replica.contacts?.responderReach) {
    case 'unreachable': return isRaised ? t`${reason()} It goes to ${names} all the same. Call somebody.` : t`${reason()} It is sent to ${names} all the same. Call somebody.`
    case 'nobody': return isRaised ? t`It goes to ${names}. Whether that reaches anybody isn’t known: call somebody, too.`
      : t`It is sent to ${names}. Whether that reaches anybody isn’t known: call somebody, too.`
  }
}

const namesOf = () => respondersOf(model.replica).map(({ account }) => personName(account))

/** What stands above the ring while nobody would be told, or may be reached. */
export function reach() {
  // A warning from an earlier time may be wrong by now.
  if (model.isKept || !isAlone()) return undefined
  if (!isOutOfReach() && model.replica.contacts.responderReach === 'nobody') {
    return h('section', { class: 'card reach', 'aria-label': t`Who is told`, role: 'status' }, iconOf('alert'),
      h('p', {}, h('strong', {}, t`Nobody is told if you miss a check-in`),
        h('small', {}, plural(namesOf().length, t`${responderNames()} would hear of an alert, but doesn’t hear of missed check-ins.`, t`${responderNames()} would hear of an alert, but don’t hear of missed check-ins.`))),
      h('a', { class: 'button', href: '/contacts' }, t`Add somebody`))
  }
  if (!isOutOfReach()) {
    return h('section', { class: 'card reach', 'aria-label': t`Who is told`, role: 'status' }, iconOf('alert'),
      h('p', {}, h('strong', {}, unreachableWarning(namesOf()))),
      h('a', { class: 'button', href: '/contacts' }, t`Contacts`))
  }
  const isAsked = [...model.replica.contacts.requests.values()].some((one) => one.direction === 'outgoing' && one.isMyResponder)
  return h('section', { class: 'card reach', 'aria-label': t`Who is told` }, iconOf('alert'),
    h('p', {}, h('strong', {}, t`Nobody looks after you`),
      h('small', {}, t`If you miss a check-in or raise an alert, nobody is told.`, isAsked && ` ${t`Somebody whom you asked hasn’t answered yet.`}`)),
    h('a', { class: 'button', href: '/contacts' }, t`Add somebody`))
}
