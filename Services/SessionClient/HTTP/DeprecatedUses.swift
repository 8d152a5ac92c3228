import Foundation
import HTTPTypes
import Hummingbird
import Synchronization

/// What a request used that will go away. Its answer says so, and so does the log.
final class DeprecatedUses: Sendable {
    private let uses = Mutex<[Deprecation]>([])

    /// Notes what of an endpoint's request will go away.
    func note(_ declaration: Endpoint.Declaration, _ body: [UInt8], of request: Request, _ context: EdgeContext) {
        for (name, deprecation) in declaration.deprecations(in: body) {
            uses.withLock { $0.append(deprecation) }
            context.logger.info(
                "something was used that will go away",
                metadata: ["name": "\(name)", "client": "\(request.headers[.quartetClient] ?? "unknown")"])
        }
    }

    /// As header fields (RFC 9745, RFC 8594): of several, the one that goes first.
    var fields: [HTTPField] {
        guard let first = uses.withLock(\.self).min(by: { $0.sunset < $1.sunset }) else { return [] }
        return [
            HTTPField(name: .deprecation, value: "@\(Int(first.since.timeIntervalSince1970))"),
            HTTPField(name: .sunset, value: first.sunset.formatted(Self.dates)),
            HTTPField(name: .link, value: "<\(first.instead)>; rel=\"deprecation\""),
        ]
    }

    /// As in RFC 9110, section 5.6.7.
    private static let dates = Date.VerbatimFormatStyle(
        format:
            "\(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .padded(4)) \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\(second: .twoDigits) GMT",
        locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt, calendar: Calendar(identifier: .gregorian))
}

extension HTTPField.Name {
    fileprivate static let deprecation = HTTPField.Name("Deprecation")!
    fileprivate static let sunset = HTTPField.Name("Sunset")!
    fileprivate static let link = HTTPField.Name("Link")!
}
