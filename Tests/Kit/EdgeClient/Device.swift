/// A device that is signed in: sends what its person does, again and under the same Idempotency-Key until there is an
/// answer.
public struct Device: Sendable {
    /// The API.
    public let edge: EdgeClient
    /// Whose it is.
    public let account: String
    /// Its id.
    public let id: String
    /// The access token.
    public let token: String
    /// Exchanged for the next tokens.
    public let refreshToken: String

    /// From the answer to a sign-up, a sign-in or a token request.
    /// - Throws: ``EdgeClient/Refused`` for any other answer.
    public init(_ reply: EdgeClient.Reply, edge: EdgeClient) throws {
        guard reply.isSuccess, let account = reply.body["account"].string, let id = reply.body["device"].string,
            let token = reply.body["accessToken"].string, let refreshToken = reply.body["refreshToken"].string
        else { throw EdgeClient.Refused(reply) }
        (self.edge, self.account, self.id) = (edge, account, id)
        (self.token, self.refreshToken) = (token, refreshToken)
    }

    init(edge: EdgeClient, account: String, id: String, token: String, refreshToken: String) {
        (self.edge, self.account, self.id) = (edge, account, id)
        (self.token, self.refreshToken) = (token, refreshToken)
    }

    /// The same device at another replica of the edge.
    public init(_ device: Device, at edge: EdgeClient) {
        self.edge = edge
        (account, id) = (device.account, device.id)
        (token, refreshToken) = (device.token, device.refreshToken)
    }

    /// Signs a new person up.
    public static func signUp(
        _ handle: String, name: String? = nil, password: String = "a long enough password", device: String = "phone",
        at edge: EdgeClient
    ) async throws -> Device {
        var body: [String: JSON] = [
            "handle": .string(handle), "password": .string(password), "deviceName": .string(device),
        ]
        if let name { body["name"] = .string(name) }
        return try Device(try await edge.insist("/v1/sign-up", .object(body)), edge: edge)
    }

    /// Signs another device of an account in.
    public static func signIn(
        _ handle: String, password: String = "a long enough password", device: String = "tablet", at edge: EdgeClient
    ) async throws -> Device {
        let body: JSON = ["handle": .string(handle), "password": .string(password), "deviceName": .string(device)]
        return try Device(try await edge.insist("/v1/sign-in", body), edge: edge)
    }

    /// Sends a command and returns the answer, whatever it is.
    public func ask(_ command: String, _ body: JSON = [:], key: String? = nil) async throws -> EdgeClient.Reply {
        try await edge.insist("/v1/commands/\(command)", body, token: token, key: key)
    }

    /// Sends a command that must be accepted, and returns its result.
    /// - Throws: ``EdgeClient/Refused``.
    @discardableResult
    public func act(_ command: String, _ body: JSON = [:], key: String? = nil) async throws -> JSON {
        let reply = try await ask(command, body, key: key)
        guard reply.isSuccess else { throw EdgeClient.Refused(reply) }
        return reply.body["result"]
    }

    /// Starts an operation and waits until it has ended.
    /// - Throws: ``EdgeClient/Refused``.
    @discardableResult
    public func operate(_ operation: String, _ body: JSON = [:], key: String? = nil) async throws -> JSON {
        let reply = try await edge.insist("/v1/operations/\(operation)", body, token: token, key: key)
        guard reply.isSuccess else { throw EdgeClient.Refused(reply) }
        return reply.body
    }

    /// Closes the account.
    /// - Returns: The operation; nil if only a repetition was answered, to which the device was signed out already.
    /// - Throws: ``EdgeClient/Refused``.
    @discardableResult
    public func close() async throws -> JSON? { try await leave("/v1/operations/CloseAccount", [:])?.body }

    /// Signs this device out.
    /// - Throws: ``EdgeClient/Refused``.
    public func signOut() async throws { _ = try await leave("/v1/sign-out", nil) }

    /// Asks for something after which the device is signed out, until there is a final answer.
    /// - Returns: The answer; nil if an earlier attempt had none and did it.
    /// - Throws: ``EdgeClient/Refused``.
    private func leave(_ path: String, _ body: JSON?) async throws -> EdgeClient.Reply? {
        let key = EdgeClient.newKey()
        var attempts = 0
        let reply = try await EdgeClient.untilFinal {
            attempts += 1
            return try await edge.send("POST", path, body: body, token: token, key: key)
        }
        // The first attempt finds the device signed in, or something else has signed it out.
        if attempts > 1, reply.status == 401, reply.body["code"] == "signedOut" { return nil }
        guard reply.isSuccess else { throw EdgeClient.Refused(reply) }
        return reply
    }

    /// Reads something.
    /// - Throws: ``EdgeClient/Refused``.
    public func read(_ path: String) async throws -> JSON {
        let reply = try await edge.insist(method: "GET", path, nil, token: token)
        guard reply.isSuccess else { throw EdgeClient.Refused(reply) }
        return reply.body
    }
}

extension EdgeClient {
    /// Sends a request again and again, always under the same Idempotency-Key, until it has a final answer: what an app does
    /// whose server is restarted.
    /// - Throws: what was wrong the last time, when it never had one.
    public func insist(
        method: String = "POST", _ path: String, _ body: JSON?, token: String? = nil, key: String? = nil
    ) async throws -> Reply {
        let key = key ?? Self.newKey()
        return try await Self.untilFinal { try await send(method, path, body: body, token: token, key: key) }
    }

    /// Asks again and again until there is a final answer; for two minutes at most.
    /// - Parameter ask: Does nothing that may not happen twice, or always uses the same Idempotency-Key.
    /// - Throws: what was wrong the last time, when there never was one.
    public static func untilFinal(_ ask: () async throws -> Reply) async throws -> Reply {
        let end = ContinuousClock.now + .seconds(120)
        while true {
            let last: Result<Reply, any Error>
            do {
                let reply = try await ask()
                guard reply.isTransient else { return reply }
                last = .success(reply)
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                last = .failure(error)
            }
            guard ContinuousClock.now < end else { throw Refused(try last.get()) }
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}
