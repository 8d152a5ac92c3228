import Foundation
import Games
import QuartetClient

extension App {
    /// Does what a key asked for. What it changes shows at once; why it didn't happen is said.
    /// - Returns: What is being done for it; nil if all of it is done already.
    @discardableResult
    func perform(_ action: Action) -> Task<Void, Never>? {
        switch action {
        case .quit: quit()
        case .redraw: redraw()
        case .suspend: suspend()
        default: return start(action)
        }
        return nil
    }

    private func start(_ action: Action) -> Task<Void, Never> {
        // What is done later, and after each answer, belongs to the account whose screens the key was pressed on.
        let (quartet, connection) = (self.quartet, self.connection)
        return keep {
            do {
                try await self.carryOut(action, as: quartet, over: connection)
                if let done = action.done { self.say(.init(text: done), over: connection) }
            } catch QuartetError.willBeSentWhenOnline {
                // The line about what waits says it for as long as it is true.
            } catch let error as QuartetError {
                self.say(.init(text: error.localizedDescription, isError: !error.isPending), over: connection)
            } catch is CancellationError {
                return
            } catch {
                self.say(.init(text: error.localizedDescription, isError: true), over: connection)
            }
            self.change()
        }
    }

    /// Says what became of something. Where another account is shown by now, it says whose it is.
    private func say(_ notice: Model.Notice, over connection: Connection) {
        var notice = notice
        let owner = accounts?.opened.first { $0.connection === connection }?.account
        if connection !== self.connection, let owner, let account = accounts?.list.value[owner] {
            notice.text = "\(account.label): \(notice.text)"
        }
        model.notice = notice
    }

    /// Changes the screens of an account, if they are shown.
    private func changeScreens(of connection: Connection, _ change: (inout Model) -> Void) {
        if connection === self.connection { change(&model) }
    }

    private func carryOut(_ action: Action, as quartet: Quartet, over connection: Connection) async throws {
        switch action {
        case .quit, .redraw, .suspend: break
        case .signIn(let handle, let password):
            try await quartet.session.signIn(
                SignInRequest(handle: handle, password: password, deviceName: Self.deviceName))
            // That alone: who types on at once may have opened something by now, and what they type belongs there.
            model.signIn = SignInScreen.signIn
        case .signUp(let handle, let name, let password):
            _ = try await quartet.session.signUp(
                SignUpRequest(
                    handle: handle, password: password, name: name.isEmpty ? nil : name, deviceName: Self.deviceName))
            model.signIn = SignInScreen.signIn
        case .signOut:
            try await quartet.session.signOut()
        case .show(let account): try await accounts?.show(account)
        case .dismiss(let id):
            guard let card = accounts?.unsent.first(where: { $0.change.id == id }) else { return }
            try await accounts?.markRead(card)
        case .dismissDropped: for clients in accounts?.opened ?? [] { clients.connection.outbox.markDroppedRead() }
        case .dismissSetAside: try device.removeSetAside()
        case .setName(let name):
            let profile = quartet.user.user.profile
            try await quartet.user.updateProfile(
                Edit(base: profile, edit: ProfileFields(name: name, emergencyNote: profile.emergencyNote)))
        case .checkIn:
            say(.init(text: DailyPart.done(try await quartet.user.checkInWithResult())), over: connection)
        case .setInterval(let interval, let version):
            try await quartet.user.replaceCheckInInterval(interval, version)
        case .setDaily(let daily, let version): try await quartet.user.replaceDailyCheckIns(daily, version)
        case .setGrace(let grace): try await quartet.user.setCheckInGrace(grace)
        case .startTrip(let command): try await quartet.user.startTrip(command)
        case .extendTrip(let command): try await quartet.user.extendTrip(command)
        case .endTrip(let command): try await quartet.user.endTrip(command)
        case .pause(let until): try await quartet.user.pauseCheckIns(until)
        case .resume: try await quartet.user.resumeCheckIns()
        case .raiseAlert: try await quartet.user.raiseAlert()
        case .clearAlert: try await quartet.user.clearAlert()
        case .runDrill: try await quartet.user.runDrill()
        case .readDrill:
            let report = try await quartet.user.drillReport()
            changeScreens(of: connection) { $0.drill = report }
        case .add(let request): try await quartet.contacts.add(request)
        case .approve(let request): try await quartet.contacts.approve(request)
        case .decline(let account): try await quartet.contacts.decline(account)
        case .withdraw(let account): try await quartet.contacts.withdraw(account)
        case .remove(let account): try await quartet.contacts.remove(account)
        case .acceptRole(let account): try await quartet.contacts.acceptRoleChange(account)
        case .declineRole(let account): try await quartet.contacts.declineRoleChange(account)
        case .ping(let account): try await quartet.contacts.sendPing(account)
        case .cancelPing(let account): try await quartet.contacts.cancelPing(account)
        case .respond(let account): try await quartet.contacts.respondToPing(account)
        case .acknowledge(let answer): try await quartet.contacts.acknowledge(answer)
        case .setTiers(let tiers, let version): try await quartet.contacts.replaceResponderTiers(tiers, version)
        case .setPingEscalation(let command): try await quartet.contacts.setPingEscalation(command)
        case .setQuietHours(let hours): try await quartet.contacts.setPingQuietHours(hours)
        case .respondToAll: _ = try await quartet.session.respondToAllPings()
        case .markRead(let id): try await quartet.notifications.markRead(id)
        case .answerDrill(let id): try await quartet.notifications.answerDrill(id)
        case .remind(let command): try await quartet.notifications.scheduleReminder(command)
        case .takeBack(let ids):
            let (count, problem) = await quartet.notifications.takeBack(ids)
            if let problem, count == 0 { throw problem }
            let text = NotificationsScreen.takenBack(count, of: ids.count, problem)
            say(.init(text: text, isError: problem?.isPending == false), over: connection)
        case .markAllRead: try await quartet.notifications.markAllRead()
        case .clear(let ids): try await quartet.notifications.clear(NotificationSelection(ids: ids))
        default: try await carryOutTogether(action, as: quartet, over: connection)
        }
    }

    private func carryOutTogether(_ action: Action, as quartet: Quartet, over connection: Connection) async throws {
        let groups = quartet.groups
        switch action {
        case .newGame:
            let group = try await groups.create(
                CreateGroupSessionRequest(
                    activity: GroupSessionActivity(identifier: GroupSessionActivity.fourInARow, title: "Four in a row"),
                    seats: 5,
                    isOpenToContacts: true))
            changeScreens(of: connection) { $0.group = group }
        case .join(let id): try await groups.join(id)
        case .leave(let id):
            try await groups.leave(id)
            if model.group == id { model.group = nil }
        case .end(let id): try await groups.end(id)
        case .invite(let id, let accounts): try await groups.invite(id, accounts)
        case .claimSeat(let id, let seat): try await groups.claimSeat(id, seat)
        case .releaseSeat(let id): try await groups.releaseSeat(id, nil)
        case .startGame(let id, let first, let second):
            // One that ended on the board, and whose last player was cut off before saying so.
            if let game = group?.state.game, game.finished == nil, FourInARow(game)?.isOver == true {
                try await groups.finishGame(id)
            }
            let board = FourInARow(first: "\(first)", second: "\(second)")
            try await groups.startGame(
                StartGame(
                    group: id, state: JSONValue(encoding: board), turnField: FourInARow.turnField, lead: .seconds(0)))
        case .drop(let id, let column): try await drop(id, column, as: quartet)
        case .play(let title, let withOthers, let session):
            if try await !quartet.play(title, withOthers: withOthers, in: session) {
                say(PlayPart.changed, over: connection)
            }
        case .setPlaying(let id, let isPlaying): try await quartet.playback.setPlaying(id, isPlaying)
        case .next(let id): try await quartet.playback.next(id)
        default: break
        }
    }

    private func drop(_ id: GroupID, _ column: Int, as quartet: Quartet) async throws {
        guard let group, group.id == id, let game = group.state.game, let board = FourInARow(game) else { return }
        guard let next = board.playing(column) else {
            model.notice = .init(text: "This column is full.", isError: true)
            return
        }
        try await quartet.groups.updateGame(
            UpdateGame(group: id, expectedVersion: game.version, patch: JSONValue(encoding: next.move)))
        guard next.isOver else { return }
        // What is finished is the version that this move made, once it is here.
        for await newest in group.state.values(of: \.game) where newest.map({ $0.version > game.version }) ?? true {
            break
        }
        try await quartet.groups.finishGame(id)
        if next.winner != nil {
            try await quartet.groups.send(SendGroupMessage(group: id, type: "score", data: ["points": 1]))
        }
    }

    private static var deviceName: String {
        let host = ProcessInfo.processInfo.hostName.prefix { $0 != "." }
        return "Terminal on \(host.isEmpty ? "a computer" : host)"
    }
}

extension Quartet {
    /// Plays a title where somebody was asked about it.
    /// - Parameter session: The one in which they listened then; nil for none, and a new one is made.
    /// - Returns: False if they listen somewhere else by now. Nothing is played then.
    func play(
        _ title: String, withOthers: Bool, in session: GroupID?
    ) async throws(QuartetError) -> Bool {
        guard groups.groups.value.listening == session else { return false }
        let group: GroupID
        if let session {
            group = session
        } else {
            group = try await groups.create(
                CreateGroupSessionRequest(
                    activity: GroupSessionActivity(
                        identifier: GroupSessionActivity.listening, type: .listenTogether, title: "Listening"),
                    capacity: withOthers ? nil : 1, seats: 0, isOpenToContacts: withOthers))
        }
        try await playback.play(group, PlaybackItem(id: .new(), title: title))
        return true
    }
}

extension NotificationsClient {
    /// Takes back all that can be taken back: what one throws, such as that it is sent once there is a network, stops none after it.
    /// - Returns: How many were still open, and the first refusal, or else that something waits.
    func takeBack(_ reminders: [NotificationID]) async -> (count: Int, problem: QuartetError?) {
        var (count, problem): (Int, QuartetError?) = (0, nil)
        for id in reminders {
            do throws(QuartetError) { count += try await cancelReminder(id) ? 1 : 0 } catch {
                if problem?.isPending ?? true { problem = error }
            }
        }
        return (count, problem)
    }
}
