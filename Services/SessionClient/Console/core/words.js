/** What notifications, states of the connection and ends say. Every kind, state and reason has its words here. */
import { plural, served, t } from './language.js'
import { day, moment, span } from './time.js'

function roleOf({ isMyResponder, iAmResponder }) {
  if (isMyResponder) return iAmResponder ? t`they look after you and you look after them` : t`they look after you`
  return iAmResponder ? t`you look after them` : t`no role`
}

const repeated = (text, { count }) => (count ? t`${text} (reminder ${count})` : text)

/** Whether a notification says that a deadline has passed of which others don't hear yet. */
export const isOfGrace = (details) => Boolean(details?.graceEnds && !details.alarm)

function drillSentence(name, isOn, isOwn) {
  if (isOwn) return isOn ? t`Your drill has begun: those who look after you are told that it is no alarm` : t`Your drill is over; any alarm that those who look after you hear of is real. See who answered`
  return isOn ? t`Drill, no alarm: ${name} is testing whether one would reach you, and sees that you got this if you say so`
    : t`The drill of ${name} is over. Only messages that say “drill” belonged to it; every alarm is real`
}

const askedSentence = (name, { pinged, graceEnds }) => t`${name} asked at ${moment(pinged)} whether you are all right. If you don’t answer by ${moment(graceEnds)}, your responders are told`

function missedSentence(name, { trip, pinged, deadline, graceEnds, text, ...details }) {
  if (pinged) return askedSentence(name, { pinged, graceEnds })
  if (trip) return t`You wanted to have arrived by ${moment(deadline)}. Say that you have by ${moment(graceEnds)}, or an alert is raised`
  if (text) return served(text)
  if (isOfGrace({ graceEnds, ...details })) return t`Your check-in was due at ${moment(deadline)}. Check in by ${moment(graceEnds)}, or it counts as missed`
  return repeated(deadline ? t`You missed your check-in of ${moment(deadline)}` : t`You missed your check-in`, details)
}

function reminderSentence(name, { trip, pinged, lead, pausedUntil, deadline, graceEnds }) {
  if (pinged) return askedSentence(name, { pinged, graceEnds })
  if (trip) return t`Your trip ends at ${moment(deadline)}: say that you have arrived, or give it another end`
  if (pausedUntil) return t`Your pause ends at ${moment(pausedUntil)}; the next check-in is due by ${moment(deadline)}`
  return lead ? t`Check in soon: less than ${span(lead)} left` : t`Check in soon`
}

function systemSentence(name, { text, pausedUntil, onItUntil, deadline, drill, drillEnds, isOwnDrill, reminder }) {
  if (drill) return drillSentence(name, drillEnds, isOwnDrill)
  // In their own words, which are in no list of texts. Where they aren't known, it says at least what it is.
  if (reminder !== undefined) return reminder ? t`Reminder: ${reminder}` : t`A reminder`
  if (onItUntil) return t`Are you still on it for ${name}? Your time ends at ${moment(onItUntil)}; if you can’t go on, say so`
  if (pausedUntil) return t`${name} paused their check-ins until ${moment(pausedUntil)}`
  if (deadline) return t`The pause of ${name} is over: the next check-in is due by ${moment(deadline)}`
  return text ? `${name ? `${name}: ` : ''}${served(text)}` : t`A message from Quartet`
}

function undoneSentence(count) {
  if (count === undefined) return t`Security changes were undone`
  return plural(count, t`${count} security change was undone`, t`${count} security changes were undone`)
}

function answeredSentence(count) {
  if (count === undefined) return t`You answered all pings`
  return plural(count, t`You answered ${count} ping`, t`You answered ${count} pings`)
}

const sentences = {
  alertRaised: (name, { text, trip, pinged, deadline, at, pressed }) => pressed ? t`You called for help at ${moment(pressed)}, received ${moment(at)}` : pinged ? t`You haven’t answered ${name}’s ping of ${moment(pinged)}: an alert is on` : trip ? t`You haven’t said that you arrived by ${moment(deadline)}: an alert is on` : (text ? served(text) : t`You raised an alert`),
  alertCleared: () => t`You ended your alert`,
  dependentAlertRaised: (name, details) =>
    repeated(details.pressed ? t`${name} called for help at ${moment(details.pressed)}, received ${moment(details.at)}` : details.pinged ? t`${name} hasn’t answered a ping of ${moment(details.pinged)}` : details.deadline ? t`${name} hasn’t arrived from a trip, expected by ${moment(details.deadline)}` : t`${name} raised an alert`, details),
  dependentAlertCleared: (name) => t`${name} ended the alert`,
  checkInMissed: missedSentence,
  dependentCheckInMissed: (name, details) =>
    repeated(details.deadline ? t`${name} missed the check-in of ${moment(details.deadline)}` : t`${name} missed the check-in`, details),
  dependentCheckedIn: (name) => t`${name} checked in`,
  dependentCheckedInLate: (name) => t`All clear: ${name} checked in`,
  dependentAlarmEnded: (name, { text }) => (text ? t`No all-clear from ${name}. ${served(text)}` : t`The alarm about ${name} is over: you are no longer told about it`),
  checkInReminder: reminderSentence,
  contactAdded: (name, details) => t`${name} is a contact now: ${roleOf(details)}`,
  contactRemoved: (name) => t`${name} is no longer a contact`,
  contactRoleChanged: (name, details) => t`Roles with ${name} changed: ${roleOf(details)}`,
  roleChangeRequested: (name) => t`${name} asks to look after you`,
  roleChangeAccepted: (name) => t`${name} agreed that you look after them`,
  roleChangeDeclined: (name) => t`${name} declined that you look after them`,
  roleChangeWithdrawn: (name) => t`${name} no longer asks to look after you`,
  contactRequested: (name) => t`${name} wants to be your contact`,
  contactRequestAccepted: (name) => t`${name} accepted your request`,
  contactRequestDeclined: (name) => t`${name} declined your request`,
  contactRequestWithdrawn: (name) => t`${name} withdrew the request`,
  contactRequestExpired: (name) => t`The request with ${name} expired`,
  pingSent: (name) => t`You asked ${name}: are you all right?`,
  pingReceived: (name) => t`${name} asks: are you all right?`,
  pingCancelled: (name) => t`${name} no longer asks`,
  pingAnswered: (name) => t`${name} answered: all right`,
  pingsCleared: (_, { count }) => answeredSentence(count),
  groupInvitation: (name) => t`${name} invites you to a group session`,
  groupStarted: () => t`A group session started`,
  groupEnded: () => t`A group session ended`,
  newDevice: (_, { text }) => (text ? t`A new device signed in: ${text}` : t`A new device signed in`),
  passwordChanged: () => t`Your password was changed`,
  phoneChanged: () => t`Your phone was changed`,
  securityChanged: () => t`Your security settings were changed`,
  recoveryCodesMade: () => t`New recovery codes were made`,
  recoveryCodeUsed: (_, { count }) => (count === undefined ? t`A recovery code was used` : t`A recovery code was used; ${count} left`),
  securityUndone: (_, { count }) => undoneSentence(count),
  system: systemSentence,
}

/** A notification as a sentence. A kind that this page doesn't know yet is shown by its name. */
export const sentence = (one, name) => (sentences[one.kind] ?? (() => one.kind))(name, one.details ?? {})

/** What somebody reads none of whose responders could be reached for long, of those who hear of missed check-ins. `names` are the responders’. */
export const unreachableWarning = (names) => (names.length === 1
  ? t`Your only responder, ${names[0]}, couldn’t be reached for a long time, so an alarm may reach nobody.`
  : t`None of those who hear when you miss a check-in could be reached for a long time, so an alarm may reach nobody.`)

/** What somebody reads who is about to become a responder. */
export const responderConsent = () => t`They see it when none of their responders, you included, could be reached for 30 days, but never since when.`

const critical = ['alertRaised', 'dependentAlertRaised', 'checkInMissed', 'dependentCheckInMissed']
export const isCritical = (kind) => critical.includes(kind)

const endings = {
  left: () => t`You left it.`, removed: () => t`The host removed you.`, dropped: () => t`You were away for too long.`, withdrawn: () => t`The invitation was withdrawn.`,
  ended: () => t`It was ended.`, expired: () => t`Nobody was in it any more.`, groupNotFound: () => t`It isn’t open to you.`,
}

/** Why a group session is over. */
export const endingWords = (reason) => endings[reason]?.() ?? ''

const signOuts = {
  signedOut: () => t`you signed out on this device`,
  revoked: () => t`this device was signed out from another one`,
  displaced: () => t`another device signed in, and your account allows one at a time`,
  tooMany: () => t`you signed in on too many other devices`,
  tokenReused: () => t`someone may have copied this device’s token`,
  passwordChanged: () => t`your password changed`,
  undone: () => t`security changes of your account were undone`,
  closed: () => t`the account is closed`,
}

/** Why a device was signed out, as far as it is known. */
export const signOutWords = (why) => signOuts[why]?.() ?? t`this device was signed out`

/** Whether a device that was signed out so may take back what was changed; undefined: it isn't known why. A test compares it with the contract's. */
export const leavesUndo = (why) => why === undefined || ['passwordChanged', 'displaced', 'tooMany'].includes(why)

const changes = { password: () => t`the password`, phone: () => t`the phone`, settings: () => t`the settings`, recoveryCodes: () => t`the recovery codes` }

/** What somebody reads who took security changes back. */
export const undoneWords = (kinds) =>
  t`Undone: ${[...new Set(kinds)].map((kind) => changes[kind]?.() ?? kind).join(', ')}. Sign in with the password that you had before.`

/** What may have been somebody else's doing, and for how long that is asked. */
const doubtful = ['newDevice', 'passwordChanged', 'phoneChanged', 'securityChanged', 'recoveryCodesMade', 'recoveryCodeUsed']
export const isDoubtful = ({ kind, created }, at) => doubtful.includes(kind) && at - created < 3 * day

/** Each state of the connection: its words, its colour, and whether `Retry` helps. In a group session it says so (P11). */
export function connectionWords(state, isInSession = false) {
  switch (state.name) {
    case 'connecting': return { text: t`Connecting…`, tone: 'warning' }
    case 'connected': return { text: isInSession ? t`Connected • Session Active` : t`Connected`, tone: 'good' }
    case 'reconnecting': return { text: t`Reconnecting (${state.attempt})…`, tone: 'warning' }
    case 'disconnected': return { text: t`Disconnected`, detail: state.reason, tone: 'critical', canRetry: true }
    case 'needsAuthentication': return { text: t`Sign in again`, detail: state.reason, tone: 'critical' }
    case 'notConfigured': return { text: t`Not configured`, detail: state.reason, tone: 'neutral' }
  }
}
