import Bus
import ContractSupport
import HTTPTypes
import Hummingbird
import Logging
import SessionContract
import Synchronization
import Vocabulary

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
    let requests: RateLimit<String>
    /// How soon another code may go to one phone that shall become somebody's, asked for from one address. Codes to sign in
    /// by are session's to count.
    let changes = RateLimit<String>(perMinute: 2, burst: 1)
    /// How many of these go to one phone, wherever they are asked for.
    let changesOfPhone = RateLimit<PhoneID>(perHour: 20)
    private let sent = SentCodes()

    init(
        services: ServiceConnections, codes: PhoneCodes, sender: (any PhoneCodeSender)?, guesses: Guesses,
        sources: SignInSources, handles: Handles, requests: RateLimit<String>
    ) {
        self.services = services
        self.codes = codes
        self.sender = sender
        self.guesses = guesses
        self.sources = sources
        self.handles = handles
        self.requests = requests
    }

    private struct CodeRequest: MessageBody {
        let phone: String
        let refreshToken: String?
    }

    private struct ChangeRequest: MessageBody {
        let phone: String
        let region: String?
    }

    private struct Verification: MessageBody {
        let phoneCode: PhoneCodeID
        let code: String
    }

    /// A code is on its way.
    struct Sent: Encodable {
        /// Which one; given back together with the digits.
        let phoneCode: PhoneCodeID
        /// Seconds.
        let expiresIn: Int64

        init(_ code: PhoneCodeID) {
            phoneCode = code
            expiresIn = PhoneCodeRules.lifetime.microseconds / 1_000_000
        }
    }

    // MARK: POST /v1/sign-in/codes

    /// Answers the same whether or not anybody signs in by this phone, and as fast: sending isn't waited for. Session
    /// counts codes for both, so that a refusal, which says how long to wait, is the same, too.
    func requestSignIn(_ request: Request, _ context: EdgeContext) async throws -> Response {
        let body = try CodeRequest.decodedStrictly(from: try await request.json(context))
        let number = try PhoneNumber(body.phone)
        let sender = try requireSender()
        let key = try IdempotencyKey(of: request)
        try key.requireRecent()
        let phone = codes.id(of: number)
        let source = try await sources.source(of: request, context, showing: body.refreshToken) {
            try await handles.account(of: number, codes)
        }
        let id: CommandID = key.derive("sign-in-code", phone.bytes + source.id.bytes)
        let code = PhoneCodeID(id)
        // The same request again: one message is enough.
        if sent.contains(code, to: phone) { return try .json(Sent(code)) }
        if source.known == nil { try admit(from: source.address) }
        let command = RequestSignInCode(
            phone: phone, earlier: codes.earlierIDs(of: number), code: code, proof: try codes.proof(of: code),
            source: source.id, known: source.known)
        let issued = try await services.ask(
            .session, command, id: id, key: .phone(phone), account: nil, sentAs: key, context)
        sent.insert(code, to: phone)
        // None is where nobody signs in by the phone.
        if issued?.type == PhoneCodeIssued.type {
            let (codes, logger) = (codes, context.logger)
            Task {
                do { try await sender.send(codes.text(of: code), to: number, id: code) } catch {
                    logger.error("a code could not be sent to a phone", metadata: ["error": "\(error)"])
                }
            }
        }
        return try .json(Sent(code))
    }

    // MARK: POST /v1/phone, /v1/phone/verification

    func change(_ request: Request, _ context: EdgeContext) async throws -> Response {
        let caller = try context.requireCaller()
        let body = try ChangeRequest.decodedStrictly(from: try await request.json(context))
        let key = try IdempotencyKey(of: request)
        let number = try PhoneNumber(body.phone)
        return try .json(
            try await sendCode(
                to: number, region: body.region, of: caller.account, by: caller.device, sentAs: key, request, context))
    }

    /// Sends a code that proves that a phone is the account's.
    func sendCode(
        to number: PhoneNumber, region: String?, of account: AccountID, by device: DeviceID, sentAs key: IdempotencyKey,
        _ request: Request, _ context: EdgeContext
    ) async throws -> Sent {
        let sender = try requireSender()
        try key.requireRecent()
        let id: CommandID = key.derive("phone", account.bytes)
        let code = PhoneCodeID(id)
        // To this phone: the same key for another one is another request, which is refused.
        let phone = codes.id(of: number)
        if sent.contains(code, to: phone) { return Sent(code) }
        let address = guesses.addresses.address(of: request, context)
        try admit(from: address)
        let place = "\(address) \(phone)"
        guard changes.admit(place) else { throw Self.tooSoon(changes.pause) }
        guard changesOfPhone.admit(phone) else {
            changes.giveBack(place)
            throw Self.tooSoon(changesOfPhone.pause)
        }
        func giveBack() {
            changes.giveBack(place)
            changesOfPhone.giveBack(phone)
        }
        let command = RequestPhoneChange(
            phone: Phone(number: number.description, region: region), phoneID: phone, code: code,
            proof: try codes.proof(of: code), by: device)
        do {
            try command.validate()
            _ = try await services.ask(
                .session, command, id: id, key: .account(account), account: account, sentAs: key, context)
        } catch {
            giveBack()
            throw error
        }
        do { try await sender.send(codes.text(of: code), to: number, id: code) } catch {
            context.logger.error("a code could not be sent to a phone", metadata: ["error": "\(error)"])
            giveBack()
            throw Problem(
                .serviceUnavailable, "codeNotSent", "the code could not be sent; try again in a moment", retryAfter: 30)
        }
        sent.insert(code, to: phone)
        return Sent(code)
    }

    func verify(_ request: Request, _ context: EdgeContext) async throws -> Response {
        let caller = try context.requireCaller()
        let body = try Verification.decodedStrictly(from: try await request.json(context))
        let key = try IdempotencyKey(of: request)
        let command = ChangePhone(
            code: body.phoneCode, proof: try codes.proofs(body.code, of: body.phoneCode), by: caller.device)
        return try await guesses.watch(request, context) {
            let event = try await services.ask(
                .session, command, id: key.derive("phone-verification", caller.account.bytes),
                key: .account(caller.account), account: caller.account, sentAs: key, context)
            // Wrong digits are accepted, because they are counted.
            guard let event, event.type == PhoneChanged.type else { throw PhoneCodeFailed.rejection }
            return Response.json(String(decoding: event.body, as: UTF8.self))
        }
    }

    private func requireSender() throws(Problem) -> any PhoneCodeSender {
        guard let sender else {
            throw Problem(
                .notImplemented, "phoneCodesOff", "this server sends no codes to phones; sign in by handle and password"
            )
        }
        return sender
    }

    private func admit(from address: String) throws(Problem) {
        guard requests.admit(address) else {
            throw Problem(
                .tooManyRequests, "tooManyCodes", "too many codes were asked for from your address; wait a moment",
                retryAfter: requests.pause)
        }
    }

    private static func tooSoon(_ pause: Int) -> Problem {
        Problem(
            .tooManyRequests, "tooSoon", "a code was asked for a moment ago; wait for it, or ask again then",
            field: "phone", retryAfter: pause)
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
