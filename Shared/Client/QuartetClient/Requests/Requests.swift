import Foundation
import QuartetAPI
import QuartetVocabulary

/// Sends requests until they have an answer, always under the same key, as long as that makes sense.
struct Requests: Sendable {
    let transport: (any Transport)?
    let tokens: AccessTokens?
    let clock: KnownServerTime
    let time: Timekeeper
    /// Whose; nil for whoever is signed in.
    let account: AccountID?
    /// Whether the account is still the one for which these were made.
    let isCurrent: @Sendable () -> Bool
    /// The server said that the device isn't signed in any more.
    let onSignedOut: @Sendable (ConnectionError) -> Void
    /// How often, and how patiently, a request is repeated before its caller hears of it, within ``Timekeeper/callLimit``.
    static let patience = ReconnectionPolicy(
        attempts: 4, initial: .milliseconds(500), maximum: .seconds(5), multiplier: 2)

    /// Answers after which the request may still have its effect.
    private static let undecided: Set<APIError.Code> = [.noOutcomeYet, .internal, .databaseUnavailable]

    /// Sends what needs a token.
    func signedIn(_ endpoint: TransportRequest.Endpoint, _ body: some MessageBody) async throws(QuartetError) -> [UInt8]
    {
        let sent = try Self.encoded(body)
        do throws(QuartetError) { return try await signedIn(endpoint, bytes: sent) } catch {
            guard case .refused(let refusal) = error,
                let older = Self.older(body: sent, of: type(of: body), refusedWith: refusal)
            else { throw error }
            return try await signedIn(endpoint, bytes: older)
        }
    }

    /// Reads something that needs a token.
    func read(_ endpoint: TransportRequest.Endpoint) async throws(QuartetError) -> [UInt8] {
        try await send(endpoint, [], isSignedIn: true, within: limit(of: endpoint))
    }

    /// Sends bytes, and needs a token.
    func signedIn(_ endpoint: TransportRequest.Endpoint, bytes: [UInt8]) async throws(QuartetError) -> [UInt8] {
        try await send(endpoint, bytes, isSignedIn: true, within: limit(of: endpoint))
    }

    /// Sends what needs none.
    func open(_ endpoint: TransportRequest.Endpoint, _ body: some MessageBody) async throws(QuartetError) -> [UInt8] {
        try await send(endpoint, try Self.encoded(body), isSignedIn: false, within: limit(of: endpoint))
    }

    /// Sends a command and returns how it was accepted.
    func command(_ command: some MessageBody) async throws(QuartetError) -> CommandReply {
        try await self.command(command, within: CallLimit(time))
    }

    /// The same within a call that has begun already.
    /// - Parameter limit: Nil for a part of something that takes as long as its bytes do.
    func command(_ command: some MessageBody, within limit: CallLimit?) async throws(QuartetError) -> CommandReply {
        let body = try Self.encoded(command)
        return try Self.reply(
            try await send(.command(type(of: command).type), body, isSignedIn: true, within: limit))
    }

    private static func reply(_ answer: [UInt8]) throws(QuartetError) -> CommandReply {
        do throws(TransportError) {
            let members = try JSONMembers(answer)
            guard let id = members.string("command").flatMap({ CommandID($0) }) else {
                throw .malformed("a reply must name its command")
            }
            return CommandReply(command: id, event: members.string("event"), result: members["result"])
        } catch {
            throw .unreadable("\(error)")
        }
    }

    /// Sends a command once, under a key that has its time.
    /// - Parameters:
    ///   - isRepeated: Whether it may have been sent before.
    ///   - deadline: Until when it may be sent.
    /// - Returns: How it was accepted, or why that isn't known.
    /// - Throws: ``QuartetError/expired`` if it wasn't sent, because the deadline had passed.
    func command(
        _ name: String, _ body: [UInt8], key: ID<RequestSubject>, isRepeated: Bool, until deadline: Duration
    ) async throws(QuartetError) -> Result<CommandReply, Undecided> {
        let result = try await exchange(
            .command(name), body, key: key, isSignedIn: true, isRepeated: isRepeated, until: deadline,
            patience: .disabled, nil)
        switch result {
        case .success(let answer): return .success(try Self.reply(answer))
        case .failure(let undecided): return .failure(undecided)
        }
    }

    /// The server's time; asks for it where it isn't known yet.
    func serverTime() async throws(QuartetError) -> Instant {
        guard let tokens else { throw .notConfigured("The server") }
        do { return try await tokens.serverTime() } catch is CancellationError { throw .cancelled } catch {
            throw .offline
        }
    }

    /// Gets the token that a command goes out with.
    /// - Returns: Why there is none, where there may be one later; nil if there is.
    func readyForCommand() async throws(QuartetError) -> Undecided? {
        guard let tokens else { throw .notConfigured("The server") }
        do {
            _ = try await tokens.access(for: account)
            return nil
        } catch QuartetError.refused(let error) {
            return .server(error, mayHaveHappened: false)
        } catch let error as QuartetError {
            if error == .needsAuthentication, isCurrent() { onSignedOut(await tokens.signOutError) }
            throw error
        } catch is TransportError {
            return .network(mayHaveHappened: false)
        } catch is CancellationError {
            throw .cancelled
        } catch {
            throw .unreadable("\(error)")
        }
    }

    /// Why it isn't known how a request ended.
    enum Undecided: Error {
        case network(mayHaveHappened: Bool)
        case server(APIError, mayHaveHappened: Bool)
    }

    private func limit(of endpoint: TransportRequest.Endpoint) -> CallLimit? {
        endpoint.isBulky ? nil : CallLimit(time)
    }

    /// - Parameter limit: Nil for what takes as long as its bytes do.
    private func send(
        _ endpoint: TransportRequest.Endpoint, _ body: [UInt8], isSignedIn: Bool, within limit: CallLimit?
    ) async throws(QuartetError) -> [UInt8] {
        let attempts = { @Sendable () async throws(QuartetError) -> Result<[UInt8], Undecided> in
            try await self.exchange(
                endpoint, body, key: nil, isSignedIn: isSignedIn, patience: Self.patience, limit)
        }
        let result = if let limit { try await limit.run(attempts) } else { try await attempts() }
        switch result {
        case .success(let answer): return answer
        case .failure(.network(mayHaveHappened: true)), .failure(.server(_, mayHaveHappened: true)): throw .unknown
        case .failure(.network): throw .offline
        case .failure(.server(let error, _)): throw .refused(error)
        }
    }

    /// - Parameter key: Nil to make one.
    private func exchange(
        _ endpoint: TransportRequest.Endpoint, _ body: [UInt8], key given: ID<RequestSubject>?, isSignedIn: Bool,
        isRepeated: Bool = false, until deadline: Duration? = nil, patience: ReconnectionPolicy, _ limit: CallLimit?
    ) async throws(QuartetError) -> Result<[UInt8], Undecided> {
        guard let transport, let tokens else { throw .notConfigured("The server") }
        return try await time.call { () async throws(QuartetError) in
            try await exchange(
                endpoint, body, key: given, isSignedIn: isSignedIn, isRepeated: isRepeated, until: deadline,
                patience: patience, limit, transport, tokens)
        }
    }

    private func exchange(
        _ endpoint: TransportRequest.Endpoint, _ body: [UInt8], key given: ID<RequestSubject>?, isSignedIn: Bool,
        isRepeated: Bool, until deadline: Duration?, patience: ReconnectionPolicy, _ limit: CallLimit?,
        _ transport: any Transport, _ tokens: AccessTokens
    ) async throws(QuartetError) -> Result<[UInt8], Undecided> {
        var key = given.map { RequestKey($0) } ?? RequestKey()
        var attempt = 0
        // Whether an attempt without an answer may have had its effect.
        var mayHaveHappened = isRepeated
        var refused: String?
        while true {
            let pause: Duration?
            let undecided: Undecided
            var isSent = false
            do {
                let id = key.minted(at: try await tokens.serverTime())
                let access = isSignedIn ? try await tokens.access(insteadOf: refused, for: account) : nil
                guard !isSignedIn || isCurrent() else { throw QuartetError.needsAuthentication }
                // The process may have been suspended for hours since it was last asked.
                if let deadline, time.now() > deadline { throw QuartetError.expired }
                isSent = true
                limit?.noteSent()
                let reply = try await transport.send(
                    TransportRequest(endpoint, body: body, key: id, token: access?.token))
                clock.heard(reply.serverTime)
                switch reply.result {
                case .success(let answer): return .success(answer)
                case .failure(let error):
                    switch error.retry {
                    case .refreshed where isSignedIn && refused == nil:
                        refused = access?.token
                        continue
                    case .sameKey:
                        // Of a code of a newer server nobody here knows whether anything was done.
                        mayHaveHappened =
                            mayHaveHappened || error.unknownCode != nil || Self.undecided.contains(error.code)
                        undecided = .server(error, mayHaveHappened: mayHaveHappened)
                        pause = error.retryAfter.map { .seconds($0) }
                    case .no, .newKey, .refreshed:
                        if let access, error.meansSignedOut {
                            guard isCurrent() else { throw QuartetError.needsAuthentication }
                            if (try? await tokens.signedOut(access)) == false {
                                // The same person may have signed in anew in another process of the app.
                                guard refused == nil else { throw QuartetError.needsAuthentication }
                                refused = access.token
                                continue
                            }
                            onSignedOut(.signedOut(error.reason.flatMap { .init(rawValue: $0) }))
                            throw QuartetError.needsAuthentication
                        }
                        throw QuartetError.refused(error)
                    }
                }
            } catch let error as QuartetError {
                if error == .needsAuthentication, isCurrent() { onSignedOut(await tokens.signOutError) }
                // The exchange of the token was refused, which says nothing about the request.
                if !isSent, case .refused(let error) = error {
                    return .failure(.server(error, mayHaveHappened: mayHaveHappened))
                }
                throw error
            } catch let error as TransportError {
                if isSent {
                    // An answer that can't be read says that the request arrived somewhere.
                    if case .unreachable = error {} else { mayHaveHappened = true }
                }
                if !mayHaveHappened { limit?.noteUnsent() }
                (undecided, pause) = (.network(mayHaveHappened: mayHaveHappened), nil)
            } catch is CancellationError {
                throw .cancelled
            } catch {
                throw .unreadable("\(error)")
            }
            attempt += 1
            var random = time.draws
            guard let delay = patience.delay(beforeAttempt: attempt, using: &random) else { return .failure(undecided) }
            // What the server asks for is waited out, unless a person would have given up by then.
            if let pause, pause > .seconds(30) { return .failure(undecided) }
            do { try await time.sleep(time.now() + max(delay, pause ?? .zero)) } catch { throw .cancelled }
        }
    }

    /// A request that a server refused, without the fields that servers before them don't know. It is sent once more, under a new key.
    /// - Returns: Nil if it was refused for something else.
    static func older(
        body: [UInt8], of type: (any MessageBody.Type)?, refusedWith error: APIError
    ) -> [UInt8]? {
        guard let later = (type as? any GrownBody.Type)?.laterFields, error.code == .malformed,
            error.field.map(later.contains) ?? false,
            case .object(let members)? = try? Encoded<JSONValue>(json: body).decoded(),
            !later.isDisjoint(with: members.keys)
        else { return nil }
        return try? Encoded(JSONValue.object(members.filter { !later.contains($0.key) })).json
    }

    static func encoded(_ body: some MessageBody) throws(QuartetError) -> [UInt8] {
        do { return try body.encoded() } catch { throw .unreadable("\(error)") }
    }

    /// Makes errors of reading an answer errors of this package.
    static func reading<Value>(_ body: () async throws -> Value) async throws(QuartetError) -> Value {
        do { return try await body() } catch let error as QuartetError { throw error } catch {
            throw .unreadable("\(error)")
        }
    }

    /// Reads an answer.
    static func decoded<Value: Decodable>(_ type: Value.Type, from body: [UInt8]) throws(QuartetError) -> Value {
        do { return try JSONDecoder().decode(type, from: Data(body)) } catch { throw .unreadable("\(error)") }
    }
}

extension APIError {
    /// Whether the device isn't signed in any more. An access token that is merely refused can be replaced.
    var meansSignedOut: Bool { [.signedOut, .deviceSignedOut, .tokenReused].contains(code) }
}
