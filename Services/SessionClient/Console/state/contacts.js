/** An account's contacts: the fold of the stream `contacts`, as `ContactsState+Events.swift` has it. */

export function contactsFrom(state) {
  return {
    ...state, contacts: new Map(state.contacts.map((one) => [one.account, one])),
    requests: new Map(state.requests.map((one) => [one.account, one])), blocked: [...state.blocked],
    alarmAnswers: state.alarmAnswers ?? [],
  }
}

const ping = { outgoing: 'outgoingPing', incoming: 'incomingPing' }
/** When a ping raises an alert. Its sender isn't told when quiet hours put it off, but is once none comes of it any more. */
const dueOf = ({ due, isLater, isOver }, direction) => ({ [`${ping[direction]}Due`]: due, ...(direction === 'outgoing' && { isOutgoingPingLater: isLater, isOutgoingPingOver: isOver }) })
const withoutPing = (direction) => ({ [ping[direction]]: undefined, ...dueOf({}, direction) })
const keptEscalation = ({ after, quietHours }) => (after || quietHours ? { after: after || undefined, quietHours } : undefined)
const roleRequest = { outgoing: 'outgoingRoleRequest', incoming: 'incomingRoleRequest' }

/** The state after an event. Contacts that it doesn't touch stay the same objects. */
export function applyToContacts(state, type, body) {
  const contacts = new Map(state.contacts)
  const requests = new Map(state.requests)
  const change = (account, fields) => contacts.has(account) && contacts.set(account, { ...contacts.get(account), ...fields })
  let { blocked, code, isApprovalRequired, responderReach, responderTiers, responderTiersVersion, alarmAnswers, pingEscalation, isClosed } = state
  switch (type) {
    case 'ContactsOpened': code = body.code; responderReach = 'nobody'; break
    case 'ContactCodeReset': code = body.code; break
    case 'ContactsClosed': contacts.clear(); requests.clear(); responderReach = undefined; [responderTiers, responderTiersVersion] = []; pingEscalation = undefined; alarmAnswers = []; isClosed = true; break
    case 'ResponderReachChanged': responderReach = body.reach; break
    case 'ResponderTiersSet':
      responderTiers = body.tiers.length ? body.tiers : undefined
      responderTiersVersion = body.version ?? responderTiersVersion
      break
    case 'AlarmAcknowledged': alarmAnswers = [...alarmAnswers.filter((one) => one.alarm !== body.alarm || one.responder !== body.responder), ...given(body)]; break
    case 'AlarmEnded': alarmAnswers = alarmAnswers.filter((one) => one.alarm !== body.alarm); break
    case 'ContactApprovalSet': isApprovalRequired = body.isRequired; break
    case 'ContactRequestSent': case 'ContactRequestReceived': requests.set(body.request.account, body.request); break
    case 'ContactRequestEnded': requests.delete(body.contact); break
    case 'ContactAdded': requests.delete(body.contact.account); contacts.set(body.contact.account, body.contact); break
    case 'ContactUpdated': contacts.set(body.contact.account, body.contact); break
    case 'ContactRemoved': contacts.delete(body.contact); break
    case 'RoleChangeRequested': change(body.contact, { [roleRequest[body.direction]]: body.at }); break
    case 'RoleChangeEnded': change(body.contact, { [roleRequest[body.direction]]: undefined }); break
    case 'ContactBlocked': blocked = [...new Set([...blocked, body.contact])]; break
    case 'ContactUnblocked': blocked = blocked.filter((one) => one !== body.contact); break
    case 'PingSent': change(body.contact, { outgoingPing: body.at, ...dueOf(body, 'outgoing') }); break
    case 'PingReceived': change(body.contact, { incomingPing: body.at, ...dueOf(body, 'incoming') }); break
    // One whose place another has taken is answered, too, and the other waits.
    case 'PingAnswered': if (body.direction === 'incoming' || contacts.get(body.contact)?.outgoingPing === body.sent) change(body.contact, withoutPing(body.direction)); break
    case 'PingCancelled': change(body.contact, withoutPing(body.direction)); break
    case 'ReceivedPingsCleared': for (const one of body.contacts) change(one, withoutPing('incoming')); break
    case 'PingDueSet': if (contacts.get(body.contact)?.[ping[body.direction]] === body.sent) change(body.contact, dueOf({ ...body, isOver: body.due === undefined && !body.isLater || undefined }, body.direction)); break
    case 'PingEscalationSet':
      if (body.contact) change(body.contact, { pingEscalation: body.after })
      else pingEscalation = keptEscalation({ ...pingEscalation, after: body.after })
      break
    case 'PingQuietHoursSet': pingEscalation = keptEscalation({ ...pingEscalation, quietHours: body.quietHours }); break
  }
  return { ...state, contacts, requests, blocked, code, isApprovalRequired, responderReach, responderTiers, responderTiersVersion, alarmAnswers, pingEscalation, isClosed }
}

/** The answer that an event tells of; none if a former one doesn't stand any more. */
const given = ({ dependent, alarm, responder, answer, until, answered }) =>
  (answer ? [{ dependent, alarm, responder, answer, until, answered }] : [])
