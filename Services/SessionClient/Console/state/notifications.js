/** An account's notifications: the fold of the stream `notifications`, as `NotificationsState.swift` has it. */

/** How many of the newest the state has; the history may have more. */
const limit = 200

const precedes = (left, right) => left.created > right.created || (left.created === right.created && left.id > right.id)
export const isUnread = (one) => one.read === undefined && one.cleared === undefined

/** The state after an event, of which at most so many stay. The count is the server's. */
export function applyToNotifications(state, type, body, atMost = limit) {
  const mark = (isMeant, fields) => state.notifications.map((one) => (isMeant(one) ? { ...one, ...fields } : one))
  const counted = (notifications) => ({ ...state, notifications, unread: body.unread })
  const waiting = (id) => (state.scheduled ?? []).filter((one) => one.id !== id)
  const withDevices = (pushDevices) => ({ ...state, pushDevices })
  switch (type) {
    case 'NotificationDelivered': {
      const rest = state.notifications.filter((one) => one.id !== body.forgotten && one.id !== body.notification.id)
      const notification = withReminder(body.notification, state.scheduled)
      const place = rest.findIndex((one) => precedes(notification, one))
      rest.splice(place < 0 ? rest.length : place, 0, notification)
      return { ...counted(rest.slice(0, atMost)), scheduled: waiting(body.notification.id) }
    }
    case 'NotificationScheduled': return { ...state, scheduled: [...waiting(body.scheduled.id), body.scheduled] }
    case 'ScheduledNotificationCancelled': return { ...state, scheduled: waiting(body.id) }
    case 'NotificationRead': return counted(mark((one) => one.id === body.id && isUnread(one), { read: body.at }))
    case 'DrillAnswered':
      return counted(state.notifications.map((one) => (one.id === body.id ? { ...one, read: one.read ?? body.at, answered: body.at } : one)))
    case 'AllNotificationsRead':
      return counted(mark((one) => isUnread(one) && one.created <= (body.upTo ?? one.created), { read: body.at }))
    case 'NotificationsCleared': return counted(mark((one) => selects(body.selection, one), { cleared: body.at }))
    case 'NotificationsForgotten': return counted(state.notifications.filter((one) => one.created >= body.before))
    case 'PushRegistered': return withDevices([...(state.pushDevices ?? []).filter((one) => one !== body.device), body.device].sort())
    case 'PushUnregistered': return withDevices((state.pushDevices ?? []).filter((one) => one !== body.device))
    default: return state
  }
}

/** When what it tells of happened. An alarm's repetitions carry the time of its beginning, and count from when they came. */
const timeOf = (one) => (category(one.kind) === 'alerts' && one.kind !== 'checkInReminder' ? one.created : one.details.at ?? one.created)

/** Whether a selection means a notification: those that aren't cleared and match everything that it names. */
function selects(selection, one) {
  const matches = (list, value) => !list || list.includes(value)
  return one.cleared === undefined && matches(selection.ids, one.id) && matches(selection.kinds, one.kind)
    && matches(selection.subjects, one.subject) && (!selection.occurredBy || timeOf(one) <= selection.occurredBy)
    && (!selection.category || category(one.kind) === selection.category)
}

const categories = {
  alerts: ['alertRaised', 'alertCleared', 'dependentAlertRaised', 'dependentAlertCleared', 'checkInMissed', 'dependentCheckInMissed',
    'dependentCheckedIn', 'dependentCheckedInLate', 'dependentAlarmEnded', 'checkInReminder'],
  pings: ['pingSent', 'pingReceived', 'pingCancelled', 'pingAnswered', 'pingsCleared'],
  group: ['groupInvitation', 'groupStarted', 'groupEnded'],
  system: ['newDevice', 'passwordChanged', 'phoneChanged', 'securityChanged', 'recoveryCodesMade', 'recoveryCodeUsed',
    'securityUndone', 'system'],
}

/** The category of a kind. */
export const category = (kind) => Object.keys(categories).find((name) => categories[name].includes(kind)) ?? 'relationships'

/** What one did oneself, and so isn't news. What concerns the account's security may have been somebody else. */
const ownDeeds = ['alertRaised', 'alertCleared', 'pingSent', 'pingsCleared']
/** An alert that a trip made isn't, or an unanswered ping. */
export const isOwnDeed = ({ kind, details }) => ownDeeds.includes(kind) && !details?.trip && !details?.pinged

/** How many unread ones others caused: the server's number, without one's own deeds among the newest. */
export const unreadOf = (state) =>
  state ? Math.max(0, state.unread - state.notifications.filter((one) => isUnread(one) && isOwnDeed(one)).length) : 0

/** The event of a delivery leaves what somebody wrote for themselves to the scheduled one of the same id. */
function withReminder(told, scheduled = []) {
  const reminder = told.details?.reminder === '' && scheduled.find((one) => one.id === told.id)?.details.reminder
  return reminder ? { ...told, details: { ...told.details, reminder } } : told
}

/** What somebody will be reminded of, the soonest first. */
export const remindersOf = ({ scheduled }) =>
  (scheduled ?? []).filter((one) => one.details.reminder !== undefined).sort((left, right) => left.due - right.due)

const allClears = ['alertCleared', 'dependentAlertCleared', 'dependentCheckedIn', 'dependentCheckedInLate', 'pingAnswered']
/** Whether it says that all is well. */
export const isAllClear = ({ kind }) => allClears.includes(kind)
