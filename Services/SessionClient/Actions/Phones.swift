import Bus
import Logging
import QuartetAPI
import QuartetSessionClientOrchestration
import QuartetSessionContract
import QuartetVocabulary
import Synchronization

/// Codes that are sent to phones: to sign in, and to give the account a phone.
struct Phones: Sendable {
    let services: ServiceConnections
    let codes: PhoneCodes
    /// Nil: codes aren't sent, so there is no sign-in by phone.
    let sender: (any PhoneCodeSender)?
    let guesses: Guesses
    let sources: SignInSources
    let handles: Handles
    /// How many codes one address may ask for. Each may cost somebody money.
    private let requests = RateLimit<String>(EdgeLimits.codes)
    /// How soon another code may go to one phone that is to become an account's, asked for from one address. Codes to sign
    /// in by are session's to count.
    private let changes = RateLimit<String>(EdgeLimits.codesForPhone)
    /// How many of these go to one phone, wherever they are asked for.
    private let changesOfPhone = RateLimit<PhoneID>(EdgeLimits.codesToPhone)
    private let sent = SentCodes()

    init(
        services: ServiceConnections, codes: PhoneCodes, sender: (any PhoneCodeSender)?, guesses: Guesses,
        sources: SignInSources, handles: Handles
    ) {
        self.services = services
        self.codes = codes
        self.sender = sender
        self.guesses = guesses
        self.sources = sources
        self.handles = handles
    }

    /// Answers the same whether or not anybody signs in by this phone, and as fast: sending isn't waited for. Session
    /// counts codes for both, so that a refusal, which says how long to wait, is the same, too.
    func requestSignIn(_ request: SignInCodeRequest, _ call: Call) async throws -> PhoneCodeSent {
        let number = try PhoneNumber(request.phone)
        let sender = try requireSender()
        try call.key.requireRecent(at: call.arrival)
        let phone = codes.id(of: number)
        let source = try await sources.source(of: call, showing: request.refreshToken) {
            try await handles.account(of: number, codes)
        }
        let id: CommandID = call.key.derive("sign-in-code", phone.bytes + source.id.bytes)
        let code = PhoneCodeID(id)
        // The same request again: one message is enough.
        if sent.contains(code, to: phone) { return PhoneCodeSent(code) }
        if source.known == nil { try requests.require(source.address, orElse: .tooManyCodes) }
        let command = RequestSignInCode(
            phone: phone, earlier: codes.earlierIDs(of: number), code: code, proof: try codes.proof(of: code),
            source: source.id, known: source.known)
        let issued = try await services.ask(.session, command, id: id, key: .phone(phone), account: nil, call)
        sent.insert(code, to: phone)
        // None is where nobody signs in by the phone.
        if issued?.type == PhoneCodeIssued.type {
            let (codes, logger) = (codes, call.logger)
            Task {
                do { try await sender.send(codes.text(of: code), to: number, id: code) } catch {
                    FailureLog.note(.code, "a code could not be sent to a phone", error, logger)
                }
            }
        }
        return PhoneCodeSent(code)
    }

    func change(_ request: ChangePhoneRequest, by caller: Caller, _ call: Call) async throws -> PhoneCodeSent {
        try await sendCode(
            to: try PhoneNumber(request.phone), region: request.region, of: caller.account, by: caller.device, call)
    }

    /// Sends a code that proves that a phone is the account's.
    func sendCode(
        to number: PhoneNumber, region: String?, of account: AccountID, by device: DeviceID, _ call: Call
    ) async throws -> PhoneCodeSent {
        let sender = try requireSender()
        try call.key.requireRecent(at: call.arrival)
        let id: CommandID = call.key.derive("phone", account.bytes)
        let code = PhoneCodeID(id)
        // To this phone: the same key for another one is another request, which is refused.
        let phone = codes.id(of: number)
        if sent.contains(code, to: phone) { return PhoneCodeSent(code) }
        try requests.require(call.address, orElse: .tooManyCodes)
        let place = "\(call.address) \(phone)"
        guard changes.admit(place) else { throw Self.tooSoon(changes.pause) }
        guard changesOfPhone.admit(phone) else {
            changes.giveBack(place)
            throw Self.tooSoon(changesOfPhone.pause)
        }
        func giveBack() {
            changes.giveBack(place)
            changesOfPhone.giveBack(phone)
        }
        do {
            let command = RequestPhoneChange(
                phone: Phone(number: number.description, region: region), phoneID: phone, code: code,
                proof: try codes.proof(of: code), by: device)
            _ = try await services.ask(.session, command, as: "phone", by: account, call)
        } catch {
            giveBack()
            throw error
        }
        do { try await sender.send(codes.text(of: code), to: number, id: code) } catch {
            FailureLog.note(.code, "a code could not be sent to a phone", error, call.logger)
            giveBack()
            throw APIError(.codeNotSent, retryAfter: 30)
        }
        sent.insert(code, to: phone)
        return PhoneCodeSent(code)
    }

    func verify(_ request: VerifyPhoneRequest, by caller: Caller, _ call: Call) async throws -> PhoneChanged {
        let command = ChangePhone(
            code: request.phoneCode, proof: try codes.proofs(request.code, of: request.phoneCode), by: caller.device)
        return try await guesses.watch(call.address) {
            let event = try await services.ask(
                .session, command, as: "phone-verification", by: caller.account, call)
            // Wrong digits are accepted, because they are counted.
            guard let event, event.type == PhoneChanged.type else { throw PhoneCodeFailed.rejection }
            return try PhoneChanged.decoded(from: event.body)
        }
    }

    private func requireSender() throws(APIError) -> any PhoneCodeSender {
        guard let sender else { throw APIError(.phoneCodesOff) }
        return sender
    }

    private static func tooSoon(_ pause: Int) -> APIError {
        APIError(
            .tooSoon, "A code was requested a moment ago; wait for it, or try again later.", field: "phone",
            retryAfter: pause)
    }
}

/// The codes that this process has sent lately, and to which phones.
private final class SentCodes: Sendable {
    private struct Message: Hashable {
        let code: PhoneCodeID
        let phone: PhoneID
    }

    private static let limit = 100_000
    private let messages = Mutex<Set<Message>>([])

    func contains(_ code: PhoneCodeID, to phone: PhoneID) -> Bool {
        messages.withLock { $0.contains(Message(code: code, phone: phone)) }
    }

    func insert(_ code: PhoneCodeID, to phone: PhoneID) {
        messages.withLock { messages in
            if messages.count >= Self.limit {
                let old = Instant.now - PhoneCodeRules.lifetime
                messages = messages.filter { $0.code.time.map { $0 > old } ?? false }
            }
            if messages.count < Self.limit { messages.insert(Message(code: code, phone: phone)) }
        }
    }
}
