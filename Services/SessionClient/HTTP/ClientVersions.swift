import HTTPTypes
import Hummingbird
import QuartetAPI
import ServiceKit

/// A client's name and version, as it says in `Quartet-Client: ios/1.4.2`.
struct ClientVersion: Hashable, Sendable, CustomStringConvertible {
    let name: String
    /// Up to four numbers; what is missing is zero.
    let numbers: [Int]

    init?(_ text: String) {
        guard let match = text.wholeMatch(of: /([a-z0-9][a-z0-9-]{0,31})\/([0-9]{1,6}(?:\.[0-9]{1,6}){0,3})/) else {
            return nil
        }
        name = String(match.1)
        numbers = match.2.split(separator: ".").compactMap { Int($0) }
    }

    func isOlder(than other: ClientVersion) -> Bool {
        let count = max(numbers.count, other.numbers.count)
        func padded(_ numbers: [Int]) -> [Int] { numbers + Array(repeating: 0, count: count - numbers.count) }
        return padded(numbers).lexicographicallyPrecedes(padded(other.numbers))
    }

    /// The version without the name.
    var version: String { numbers.map(String.init).joined(separator: ".") }
    var description: String { "\(name)/\(version)" }
}

/// Refuses clients that are older than this server serves. One that doesn't say what it is is served.
struct ClientVersions: RouterMiddleware, Hashable {
    private var oldest: [String: ClientVersion] = [:]

    init() {}

    /// - Parameter text: The oldest version of each client, as in `ios/1.4,web/3.0.2`.
    init(_ text: String) throws(SettingProblem) {
        for part in text.split(separator: ",") {
            guard let client = ClientVersion(part.filter { $0 != " " }), oldest[client.name] == nil else {
                throw SettingProblem(expected: "names and versions such as ios/1.4,web/3.0.2, each name once")
            }
            oldest[client.name] = client
        }
    }

    func handle(
        _ request: Request, context: EdgeContext, next: @concurrent (Request, EdgeContext) async throws -> Response
    ) async throws -> Response {
        try check(request.headers[.quartetClient])
        return try await next(request, context)
    }

    /// - Throws: `upgradeRequired`; `badRequest` for a header that can't be understood.
    func check(_ header: String?) throws(APIError) {
        guard let header else { return }
        guard let client = ClientVersion(header) else {
            throw APIError(
                .badRequest, "Quartet-Client must be a name and a version, as in ios/1.4.2.", field: "Quartet-Client")
        }
        guard let oldest = oldest[client.name], client.isOlder(than: oldest) else { return }
        throw APIError(
            .upgradeRequired,
            "\(client.name) \(client.version) is too old for this server; update to \(oldest.version) or newer.")
    }
}

extension HTTPField.Name {
    static let quartetClient = HTTPField.Name("Quartet-Client")!
}
