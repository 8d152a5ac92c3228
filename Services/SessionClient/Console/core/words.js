/** What notifications, states of the connection and ends say. Every kind, state and reason has its words here. */
import { day, moment, span } from './time.js'

const roleOf = ({ isMyResponder, iAmResponder }) =>
  [isMyResponder && 'they look after you', iAmResponder && 'you look after them'].filter(Boolean).join(' and ') || 'no role'
const repeated = ({ count }) => (count ? ` (reminder ${count})` : '')

/** Whether a notification says that a deadline has passed of which others don't hear yet. */
export const isOfGrace = (details) => Boolean(details?.graceEnds && !details.alarm)

const drillSentence = (name, isOn, isOwn) => (isOwn
  ? isOn ? 'Your drill has begun: those who look after you are told that it is no alarm' : 'Your drill is over: what those who look after you hear is no drill any more. Look who answered'
  : isOn ? `Drill, no alarm: ${name} tries out whether you would hear of one, and sees that you got it if you say so` : `The drill of ${name} is over. Only what says “drill” was it: an alarm is real, whenever it came`)

const sentences = {
  alertRaised: (_, { text, trip, deadline }) => trip ? `You haven’t said that you arrived by ${moment(deadline)}: an alert is on` : (text ?? 'You raised an alert'),
  alertCleared: () => 'You ended your alert',
  dependentAlertRaised: (name, details) => `${name} ${details.deadline ? `hasn’t arrived from a trip, expected by ${moment(details.deadline)}` : 'raised an alert'}${repeated(details)}`,
  dependentAlertCleared: (name) => `${name} ended the alert`,
  checkInMissed: (_, details) => details.trip ? `You wanted to have arrived by ${moment(details.deadline)}. Say that you have by ${moment(details.graceEnds)}, or an alert is raised` : details.text ?? (isOfGrace(details) ? `Your check-in was due at ${moment(details.deadline)}. Check in by ${moment(details.graceEnds)}, or it counts as missed`
    : `You missed your check-in${details.deadline ? ` of ${moment(details.deadline)}` : ''}${repeated(details)}`),
  dependentCheckInMissed: (name, details) =>
    `${name} missed the check-in${details.deadline ? ` of ${moment(details.deadline)}` : ''}${repeated(details)}`,
  dependentCheckedIn: (name) => `${name} checked in`,
  dependentCheckedInLate: (name) => `All clear: ${name} checked in`,
  dependentAlarmEnded: (name, { text }) => (text ? `No all-clear from ${name}. ${text}` : `The alarm about ${name} is over: you are no longer told about it`),
  checkInReminder: (_, { trip, lead, pausedUntil, deadline }) => trip ? `Your trip ends at ${moment(deadline)}: say that you have arrived, or give it another end` : pausedUntil ? `Your pause ends at ${moment(pausedUntil)}; the next check-in is due by ${moment(deadline)}`
    : `Check in soon${lead ? `: less than ${span(lead)} left` : ''}`,
  contactAdded: (name, details) => `${name} is a contact now: ${roleOf(details)}`,
  contactRemoved: (name) => `${name} is no longer a contact`,
  contactRoleChanged: (name, details) => `Roles with ${name} changed: ${roleOf(details)}`,
  roleChangeRequested: (name) => `${name} asks to look after you`,
  roleChangeAccepted: (name) => `${name} agreed that you look after them`,
  roleChangeDeclined: (name) => `${name} declined that you look after them`,
  roleChangeWithdrawn: (name) => `${name} no longer asks to look after you`,
  contactRequested: (name) => `${name} wants to be your contact`,
  contactRequestAccepted: (name) => `${name} accepted your request`,
  contactRequestDeclined: (name) => `${name} declined your request`,
  contactRequestWithdrawn: (name) => `${name} withdrew the request`,
  contactRequestExpired: (name) => `The request with ${name} expired`,
  pingSent: (name) => `You asked ${name}: are you all right?`,
  pingReceived: (name) => `${name} asks: are you all right?`,
  pingCancelled: (name) => `${name} no longer asks`,
  pingAnswered: (name) => `${name} answered: all right`,
  pingsCleared: (_, { count }) => `You answered ${count ?? 'all'} ${count === 1 ? 'ping' : 'pings'}`,
  groupInvitation: (name) => `${name} invites you to a group session`,
  groupStarted: () => 'A group session started',
  groupEnded: () => 'A group session ended',
  newDevice: (_, { text }) => `A new device signed in${text ? `: ${text}` : ''}`,
  passwordChanged: () => 'Your password was changed',
  phoneChanged: () => 'Your phone was changed',
  securityChanged: () => 'Your security settings were changed',
  recoveryCodesMade: () => 'New recovery codes were made',
  recoveryCodeUsed: (_, { count }) => `A recovery code was used; ${count ?? 'some'} left`,
  securityUndone: (_, { count }) => `${count ?? 'Some'} security ${count === 1 ? 'change was' : 'changes were'} undone`,
  system: (name, { text, pausedUntil, onItUntil, deadline, drill, drillEnds, isOwnDrill }) => drill ? drillSentence(name, drillEnds, isOwnDrill) : onItUntil ? `Are you still on it for ${name}? Your time ends at ${moment(onItUntil)}; if you can’t go on, say so` : pausedUntil ? `${name} paused their check-ins until ${moment(pausedUntil)}` : deadline ? `The pause of ${name} is over: the next check-in is due by ${moment(deadline)}` : (text ? `${name ? `${name}: ` : ''}${text}` : 'A message from Quartet'),
}

/** A notification as a sentence. A kind that this page doesn't know yet is shown by its name. */
export const sentence = (one, name) => (sentences[one.kind] ?? (() => one.kind))(name, one.details ?? {})

/** What somebody reads none of whose responders could be reached for long, of those who hear of missed check-ins. `names` are the responders’. */
export const unreachableWarning = (names) => (names.length === 1
  ? `Your only responder, ${names[0]}, couldn’t be reached for a long time, so an alarm may reach nobody.`
  : 'None of those who hear when you miss a check-in could be reached for a long time, so an alarm may reach nobody.')

/** What somebody reads who is about to become a responder. */
export const responderConsent = 'They see it when none of their responders, you included, could be reached for 30 days, but never since when.'

const critical = ['alertRaised', 'dependentAlertRaised', 'checkInMissed', 'dependentCheckInMissed']
export const isCritical = (kind) => critical.includes(kind)

const endings = {
  left: 'You left it.', removed: 'The host removed you.', dropped: 'You were away for too long.', withdrawn: 'The invitation was withdrawn.',
  ended: 'It was ended.', expired: 'Nobody was in it any more.', groupNotFound: 'It isn’t open to you.',
}

/** Why a group session is over. */
export const endingWords = (reason) => endings[reason] ?? ''

const signOuts = {
  signedOut: 'you signed out on this device',
  revoked: 'this device was signed out from another one',
  displaced: 'another device signed in, and your account allows one at a time',
  tooMany: 'you signed in on too many other devices',
  tokenReused: 'someone may have copied this device’s token',
  passwordChanged: 'your password changed',
  undone: 'security changes of your account were undone',
  closed: 'the account is closed',
}

/** Why a device was signed out, as far as it is known. */
export const signOutWords = (why) => signOuts[why] ?? 'this device was signed out'

/** Whether a device that was signed out so may take back what was changed; undefined: it isn't known why. A test compares it with the contract's. */
export const leavesUndo = (why) => why === undefined || ['passwordChanged', 'displaced', 'tooMany'].includes(why)

const changes = { password: 'the password', phone: 'the phone', settings: 'the settings', recoveryCodes: 'the recovery codes' }

/** What somebody reads who took security changes back. */
export const undoneWords = (kinds) =>
  `Undone: ${[...new Set(kinds)].map((kind) => changes[kind] ?? kind).join(', ')}. Sign in with the password that you had before.`

/** What may have been somebody else's doing, and for how long that is asked. */
const doubtful = ['newDevice', 'passwordChanged', 'phoneChanged', 'securityChanged', 'recoveryCodesMade', 'recoveryCodeUsed']
export const isDoubtful = ({ kind, created }, at) => doubtful.includes(kind) && at - created < 3 * day

/** Each state of the connection: its words, its colour, and whether `Retry` helps. In a group session it says so (P11). */
export function connectionWords(state, isInSession = false) {
  switch (state.name) {
    case 'connecting': return { text: 'Connecting…', tone: 'warning' }
    case 'connected': return { text: isInSession ? 'Connected • Session Active' : 'Connected', tone: 'good' }
    case 'reconnecting': return { text: `Reconnecting (${state.attempt})…`, tone: 'warning' }
    case 'disconnected': return { text: 'Disconnected', detail: state.reason, tone: 'critical', canRetry: true }
    case 'needsAuthentication': return { text: 'Sign in again', detail: state.reason, tone: 'critical' }
    case 'notConfigured': return { text: 'Not configured', detail: state.reason, tone: 'neutral' }
  }
}
