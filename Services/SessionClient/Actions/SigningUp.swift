import Bus
import Logging
import Postgres
import QuartetAPI
import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionClientOrchestration
import QuartetSessionContract
import QuartetVocabulary

/// Signing up. The account's id follows from the request's Idempotency-Key: a request sent again answers the same.
struct SigningUp: Sendable {
    let services: ServiceConnections
    let passwords: Passwords
    let sessions: Sessions
    let phones: Phones
    /// How many accounts one address may open.
    let limit: RateLimit<String>

    func signUp(_ request: SignUpRequest, _ call: Call) async throws -> SignedIn {
        let handle = try Handle(request.handle)
        let phone = try request.phone.map { text throws(Rejection) in try PhoneNumber(text) }
        if let phone { try Phone(number: phone.description, region: request.region).check() }
        try call.key.requireRecent(at: call.arrival)
        try limit.require(call.address, orElse: .tooManySignUps)
        try Passwords.check(new: request.password, for: handle)
        let id: CommandID = call.key.derive("sign-up", Array(handle.description.utf8))
        let account: AccountID = .derived(at: id.time ?? .now, from: Array("account".utf8), id.bytes)
        let device = try sessions.newDevice(request.deviceName, for: id)
        let command = SignUp(
            account: account, handle: handle.description,
            verifier: try await passwords.verifier(of: request.password, for: handle, from: call.address),
            name: request.name, device: device.device)
        // Said to be the account's, so that it is found when everything of the account is emptied.
        _ = try await services.ask(.session, command, id: id, key: .handle(handle), account: account, call)
        await waitUntilOpen(account, call.logger)
        // The account is there, whether or not a code can be sent: it may be asked for again.
        var sent: PhoneCodeSent?
        if let phone {
            sent = try? await phones.sendCode(
                to: phone, region: request.region, of: account, by: device.device.id, call)
        }
        return try await sessions.reply(account, device.device.id, device.nonce, phoneCode: sent)
    }

    /// The other services hear of an account by a policy. A person who just signed up may go on at once, so this waits until
    /// they have, but not for long, since the account exists in any case.
    private func waitUntilOpen(_ account: AccountID, _ logger: Logger) async {
        await withTaskGroup(of: Bool.self) { group in
            for (domain, state) in [
                (Domain.contacts, "contacts.contacts_state"), (.notifications, "notifications.notifications_state"),
            ] {
                group.addTask {
                    do {
                        let subscription = try await services[domain].streams.subscribe(
                            to: .account(account), from: nil,
                            state: "SELECT s.state FROM \(unescaped: state) AS s WHERE s.account = \(account)")
                        if case .snapshot(let state, _) = subscription.beginning, state != Array("null".utf8) {
                            return true
                        }
                        // The first event of an account's stream is that it is open.
                        return await subscription.next() != nil
                    } catch {
                        logger.notice("can't wait until a new account is complete", metadata: ["error": "\(error)"])
                        return false
                    }
                }
            }
            group.addTask {
                try? await Task.sleep(for: .seconds(5))
                return false
            }
            var open = 0
            while open < 2, let isOpen = await group.next() {
                guard isOpen else { break }
                open += 1
            }
            group.cancelAll()
        }
    }
}
