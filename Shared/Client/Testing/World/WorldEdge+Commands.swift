import Foundation
import QuartetAPI
import QuartetClient
import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionClientOrchestration
import QuartetSessionContract
import QuartetVocabulary
import Synchronization

extension WorldEdge {
    func command(
        _ name: String, _ request: TransportRequest, _ device: String, _ trouble: WorldTrouble?
    ) throws -> [UInt8] {
        let caller = try caller(request)
        guard let type = appCommands[name], let domain = Domain.ofAppCommands[name] else {
            throw APIError(.unknownCommand)
        }
        let (body, key) = (try Self.decoded(type, from: request.body), try key(of: request))
        let command = try command(for: body, key, caller)
        do {
            let asked = state.withLock { state in
                WorldCommand(
                    domain: domain, body: command, id: commandID(domain, key, caller.account), account: caller.account,
                    key: key, device: device, name: name, recordedAt: state.services.time)
            }
            let (id, event) = (asked.id, try ask(asked, trouble))
            guard let event, event.type != "Accepted" else {
                return Array(#"{"outcome":"accepted","command":"\#(id)"}"#.utf8)
            }
            let head = #"{"outcome":"accepted","command":"\#(id)","event":"\#(event.type)","result":"#
            return Array(head.utf8) + event.body + Array("}".utf8)
        } catch let rejection as Rejection where rejection.code == .staleVersion {
            var error = APIError(rejection)
            error.current = try current(for: command, caller.account)
            throw error
        }
    }

    private func ask(_ command: WorldCommand, _ trouble: WorldTrouble?) throws -> CausedEvent? {
        let outcome = state.withLock { state in
            if trouble == .failed { state.services.giveUp(command) }
            let pause: Interval? = if case .undecided(let pause)? = trouble { pause } else { nil }
            return state.services.ask(command, after: pause)
        }
        guard let outcome else { throw APIError(.noOutcomeYet, retryAfter: 1) }
        return try Self.event(outcome)
    }

    private static func decoded<Body: MessageBody>(_ type: Body.Type, from body: [UInt8]) throws -> any MessageBody {
        do { return try Body.decoded(from: body) } catch { throw APIError(.malformed, "\(error)") }
    }

    /// What the edge makes of a request.
    private func command(
        for body: any MessageBody, _ key: ID<RequestSubject>, _ caller: Caller
    ) throws -> any CommandBody {
        let push = PushDeviceID(caller.device)
        switch body {
        case is RunDrillRequest:
            let contacts = state.withLock { $0.services.contactStates[caller.account] }
            guard let contacts, contacts.contacts.contains(where: \.isMyResponder),
                contacts.responderReach != .unreachable
            else { throw APIError(.noResponder) }
            return RunDrill(by: caller.device)
        case let body as any PublicCommandBody: return body
        case let body as UpdateSecurityRequest:
            return UpdateSecurity(
                isSingleDevice: body.isSingleDevice, isConfirmationRequired: body.isConfirmationRequired,
                by: caller.device)
        case is RemovePhoneRequest: return RemovePhone(by: caller.device)
        case let body as PauseCheckInsRequest: return PauseCheckIns(until: body.until, by: caller.device)
        case is ResetContactCodeRequest:
            return ResetContactCode(code: id("code", for: key))
        case let body as AddContactRequest:
            let owner = body.handle.flatMap { handle in
                state.withLock { $0.services.accounts.values.first { $0.handle == handle }?.account }
            }
            guard body.code != nil || owner != nil else { throw APIError(.notFound, field: "handle") }
            return AddContact(
                code: body.code, contact: body.code == nil ? owner : nil, isMyResponder: body.isMyResponder ?? false,
                iAmResponder: body.iAmResponder ?? false, nickname: body.nickname)
        case let body as ShowNotificationsRequest:
            return ShowNotifications(ids: body.ids, device: push, shown: body.shown)
        case let body as RegisterPushRequest:
            return RegisterPush(device: push, token: body.token, platform: body.platform)
        case is UnregisterPushRequest: return UnregisterPush(device: push)
        case let body as CreateGroupSessionRequest:
            return CreateGroupSession(
                group: id("group", for: key), activity: body.activity,
                capacity: body.capacity, seats: body.seats, isOpenToContacts: body.isOpenToContacts)
        case let body as ActivateGroupSessionRequest:
            let contacts = state.withLock { $0.services.contactStates[caller.account]?.contacts ?? [] }
            guard body.contacts.allSatisfy({ contacts[$0] != nil }) else {
                throw APIError(.notContact, field: "contacts")
            }
            return ActivateGroupSession(group: body.group, contacts: body.contacts)
        case let body as JoinGroupSessionRequest:
            let host = state.withLock { state -> AccountID? in
                guard let group = state.services.groups[body.group]?.state, group.isOpenToContacts else { return nil }
                return group.host.flatMap { state.services.contactStates[caller.account]?.contacts[$0]?.account }
            }
            return JoinGroupSession(group: body.group, contactOf: host)
        default: throw APIError(.unknownCommand)
        }
    }

    private func current(for command: any CommandBody, _ account: AccountID) throws -> [UInt8]? {
        let services = state.withLock { $0.services }
        switch command {
        case is UpdateProfile, is SetDailyCheckIns, is SetCheckInInterval:
            return try services.accounts[account].map { try Encoded($0).json }
        case is SetResponderTiers:
            return try services.contactStates[account].map { try Encoded(CurrentResponderTiers($0)).json }
        case let command as UpdateContact:
            return try services.contactStates[account]?.contacts[command.contact].map {
                try Encoded(ContactCard($0, services.accounts[command.contact])).json
            }
        case let command as any GroupCommandBody:
            return try services.groups[command.group]?.state.game.map { try Encoded($0).json }
        default: return nil
        }
    }

    /// Nothing is pushed in a world.
    func drill(_ request: TransportRequest) throws -> [UInt8] {
        let (caller, services) = (try caller(request), state.withLock { $0.services })
        guard let drill = services.accounts[caller.account]?.drill else { throw APIError(.notFound) }
        let responders = services.contactStates[caller.account]?.contacts.filter(\.isMyResponder) ?? []
        let receipts = responders.map { contact in
            let notification = services.notificationStates[contact.account]?.notifications.first {
                $0.id == .ofDrill(drill.id, to: contact.account)
            }
            return DrillReceipt(
                account: contact.account,
                notified: notification.flatMap { $0.cleared == $0.created ? nil : $0.created },
                answered: notification?.answered)
        }
        return try Encoded(DrillReport(drill: drill, responders: receipts)).json
    }

    func operation(_ name: String, _ request: TransportRequest) async throws -> [UInt8] {
        let (caller, key) = (try caller(request), try key(of: request))
        let steps = WorldSteps(
            edge: self, id: id("operation", for: key), account: caller.account,
            startedAt: key.time ?? start)
        func run(_ saga: some Saga) async throws -> [UInt8] {
            do {
                let result = try await saga.run(steps)
                return Self.ended(steps.id, "done", try Encoded(result).json)
            } catch let rejection as Rejection {
                return Self.ended(steps.id, "rejected", Array(#"{"code":"\#(rejection.code.rawValue)"}"#.utf8), name)
            }
        }
        switch name {
        case ClearAllReceivedPingsSaga.type:
            return try await run(ClearAllReceivedPingsSaga(.decoded(from: request.body)))
        case RespondToAllPingsSaga.type:
            return try await run(RespondToAllPingsSaga(.decoded(from: request.body)))
        case CloseAccountSaga.type: return try await run(CloseAccountSaga(by: caller.device))
        default: throw APIError(.unknownOperation)
        }
    }

    private static func ended(
        _ id: ID<OperationSubject>, _ state: String, _ result: [UInt8], _ type: String = "Operation"
    ) -> [UInt8] {
        Array(#"{"id":"\#(id)","type":"\#(type)","state":"\#(state)","result":"#.utf8) + result + Array("}".utf8)
    }

    fileprivate func ask(_ domain: Domain, _ body: any CommandBody, id: CommandID, for account: AccountID) -> Outcome {
        state.withLock { $0.services.ask(domain, body, id: id, account: account) }
    }
}

/// A saga's steps: each is decided at once.
private struct WorldSteps: SagaSteps {
    let edge: WorldEdge
    let id: ID<OperationSubject>
    let account: AccountID
    let startedAt: Instant

    func ask(_ name: String, _ body: some CommandBody, of domain: Domain, for account: AccountID) async -> Outcome {
        edge.ask(domain, body, id: command(of: name), for: account)
    }

    func askAnew(_ name: String) async {}
    func reportClosure() async {}
}
