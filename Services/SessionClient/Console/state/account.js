/** One's own account: the fold of the stream `account`, as `AccountState.swift` has it. */

const ofTrip = (trip, { trip: id }, fields) => (trip?.id === id ? { ...trip, ...fields } : trip)
const missedTrip = (trip, { alarm, trip: missed }, isCalled) => (missed ? ofTrip(trip, missed, { alarm, graceEnds: undefined, isCalled }) : trip)
/** Whether the person has called for help by hand in the alert that is on, as far as what else made it says. */
const isByHand = ({ unanswered, trip }, alarm) => (unanswered?.alarm === alarm ? unanswered.isCalled : trip?.alarm === alarm ? trip.isCalled : true)
/** The person has called for help by hand, too. */
const called = (trip, alarm) => (trip && trip.alarm === alarm ? { ...trip, isCalled: true } : trip)
/** The end of an alert ends the trip that made it. */
const withoutAlert = (state) => ({ ...state, alertRaised: undefined, alertAlarm: undefined, lateCall: undefined, unanswered: undefined, trip: state.trip?.alarm ? undefined : state.trip })

/** Pings raised an alert, or were added to one. Of each responder the newest counts. */
function unansweredOf(known, { alarm, pings }, isCalled) {
  const before = known?.alarm === alarm ? known : undefined
  const newest = new Map()
  for (const ping of [...(before?.pings ?? []), ...pings]) if (!(newest.get(ping.contact)?.recorded > ping.recorded)) newest.set(ping.contact, ping)
  const byContact = (left, right) => (left.contact < right.contact ? -1 : 1)
  const kept = [...newest.values()].sort((left, right) => right.recorded - left.recorded || byContact(left, right)).slice(0, 100)
  return { alarm, pings: kept.sort(byContact), isCalled }
}

/** Pings were answered, and the alert goes on. */
function withoutPings(known, { alarm, pings }) {
  if (known?.alarm !== alarm) return known
  const left = known.pings.filter((one) => !pings.some(({ contact, sent }) => one.contact === contact && one.sent === sent))
  return left.length ? { ...known, pings: left } : undefined
}

/** Help is asked for again: by an unanswered ping, a missed trip, or by hand. */
function raisedAgain(state, body) {
  const isCalled = isByHand(state, body.alarm)
  if (body.trip) return { ...state, trip: missedTrip(state.trip, body, isCalled) }
  if (body.pings) return { ...state, unanswered: unansweredOf(state.unanswered, body, isCalled) }
  const lateCall = state.alertAlarm === body.alarm ? body.lateCall : state.lateCall
  return { ...state, lateCall, trip: called(state.trip, body.alarm), unanswered: called(state.unanswered, body.alarm) }
}

/** The state after an event. */
export function applyToAccount(state, type, body) {
  const checkIn = (fields) => ({ ...state, checkIn: { ...state.checkIn, ...fields } })
  // A pause goes on only while the deadline is its own: processes of a release that doesn't know pauses set others.
  // What ends one of daily times, whose deadlines say from when on a check-in counts, is said by itself.
  const moved = (due, interval, opens) => ({ due, opens, pausedUntil: opens || state.checkIn.pausedUntil + interval === due ? state.checkIn.pausedUntil : undefined })
  const devices = (list) => ({ ...state, devices: list })
  switch (type) {
    case 'AccountOpened':
      return {
        ...checkIn({ interval: body.checkInInterval, due: body.due }), handle: body.handle, name: body.name,
        onboarding: body.name ? 'done' : 'needsProfile', profileVersion: 1,
      }
    case 'AccountClosed': return { ...state, isClosed: true }
    case 'DeviceSignedIn': return devices([...state.devices.filter((one) => one.id !== body.device.id), body.device])
    case 'DeviceRefreshed': return devices(state.devices.map((one) => (one.id === body.device ? { ...one, lastSeen: body.at } : one)))
    case 'DeviceSignedOut': return devices(state.devices.filter((one) => one.id !== body.device))
    case 'SecurityUpdated': return { ...state, isSingleDevice: body.isSingleDevice, isConfirmationRequired: body.isConfirmationRequired }
    case 'ProfileUpdated':
      return {
        ...state, name: body.name, emergencyNote: body.emergencyNote, profileVersion: body.version,
        onboarding: body.name ? 'done' : 'needsProfile',
      }
    case 'PhoneChanged': return { ...state, phone: body.phone }
    case 'RecoveryCodesMade': return { ...state, recoveryCodes: body.count }
    case 'RecoveryCodeUsed': return { ...state, recoveryCodes: body.left }
    case 'SecurityChangesUndone': {
      const { phone, isSingleDevice, isConfirmationRequired, recoveryCodes } = body
      return { ...state, phone, isSingleDevice, isConfirmationRequired, recoveryCodes }
    }
    case 'AvatarSet': return { ...state, avatar: body.avatar }
    case 'AvatarRemoved': return { ...state, avatar: undefined }
    // One that came too early for a daily time is shown, and whatever is on goes on.
    case 'CheckedIn': return checkIn(body.isEarly ? { last: body.at } : { last: body.at, ...moved(body.due, state.checkIn.interval, body.opens), missed: false, alarm: undefined, graceEnds: undefined })
    case 'CheckInIntervalSet': return checkIn({ interval: body.interval, daily: undefined, ...moved(body.due, body.interval) })
    case 'DailyCheckInsSet': return checkIn({ daily: body.daily, interval: body.interval, due: body.due, opens: body.opens })
    case 'DailyCheckInsMoved': return checkIn({ due: body.due, opens: body.opens })
    case 'CheckInRemindersSet': return checkIn({ reminders: body.reminders })
    case 'CheckInGraceSet': return checkIn({ grace: body.grace || undefined })
    case 'CheckInGraceBegan': return checkIn({ graceEnds: body.ends })
    case 'CheckInsPaused': return checkIn({ due: body.due, opens: body.opens, pausedUntil: body.until })
    case 'CheckInsResumed': return checkIn({ due: body.due, opens: body.opens, pausedUntil: undefined })
    case 'CheckInMissed': return checkIn({ pausedUntil: undefined, opens: undefined, missed: true, alarm: body.alarm, graceEnds: undefined })
    case 'AlertRaised': return { ...state, alertRaised: body.at, alertAlarm: body.alarm, lateCall: body.lateCall, trip: missedTrip(state.trip, body), unanswered: body.pings && unansweredOf(undefined, body) }
    case 'AlertRaisedAgain': return raisedAgain(state, body)
    case 'UnansweredPingsDropped': return { ...state, unanswered: withoutPings(state.unanswered, body) }
    case 'AlertCleared': return withoutAlert(state)
    case 'AlarmClosed': return body.kind === 'alertRaised' ? withoutAlert(state)
      : checkIn({ ...moved(body.due, state.checkIn.interval, body.opens), missed: false, alarm: undefined })
    case 'TripStarted': return { ...state, trip: body.trip }
    case 'TripExtended': return { ...state, trip: ofTrip(state.trip, body, { eta: body.eta, graceEnds: undefined }) }
    case 'TripGraceBegan': return { ...state, trip: ofTrip(state.trip, body, { graceEnds: body.ends }) }
    case 'TripEnded': return { ...state, trip: state.trip?.id === body.trip ? undefined : state.trip }
    case 'DrillBegan': return { ...state, drill: { id: body.drill, began: body.began, ends: body.ends } }
    case 'DrillEnded': return state.drill?.id === body.drill ? { ...state, drill: { ...state.drill, ended: body.at, end: body.end } } : state
    default: return state
  }
}
