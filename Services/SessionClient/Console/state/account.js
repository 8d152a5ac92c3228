/** One's own account: the fold of the stream `account`, as `AccountState.swift` has it. */

/** The state after an event. */
export function applyToAccount(state, type, body) {
  const checkIn = (fields) => ({ ...state, checkIn: { ...state.checkIn, ...fields } })
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
    case 'CheckedIn': return checkIn({ last: body.at, due: body.due, missed: false, alarm: undefined, graceEnds: undefined })
    case 'CheckInIntervalSet': return checkIn({ interval: body.interval, due: body.due })
    case 'CheckInRemindersSet': return checkIn({ reminders: body.reminders })
    case 'CheckInGraceSet': return checkIn({ grace: body.grace || undefined })
    case 'CheckInGraceBegan': return checkIn({ graceEnds: body.ends })
    case 'CheckInMissed': return checkIn({ missed: true, alarm: body.alarm, graceEnds: undefined })
    case 'AlertRaised': return { ...state, alertRaised: body.at, alertAlarm: body.alarm }
    case 'AlertCleared': return { ...state, alertRaised: undefined, alertAlarm: undefined }
    case 'AlarmClosed': return body.kind === 'alertRaised' ? { ...state, alertRaised: undefined, alertAlarm: undefined }
      : checkIn({ due: body.due, missed: false, alarm: undefined })
    default: return state
  }
}
