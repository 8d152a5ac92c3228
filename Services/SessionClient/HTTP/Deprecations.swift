import Foundation
import HTTPTypes
import Hummingbird
import Logging

/// Says in its answers, and in the log, that a route will go away.
struct Deprecations: RouterMiddleware {
    /// A route that will go away.
    struct Route: Sendable {
        let method: HTTPRequest.Method
        /// As it was declared, with the names of its parameters.
        let path: String
        let since: Date
        /// From when on it may be gone.
        let sunset: Date
        /// Where the documentation says what to use instead.
        let instead: String
    }

    /// None at present. A route that is to go away is added here and in deploy/API.md, and stays at least half a year.
    var routes: [Route] = []

    func handle(
        _ request: Request, context: EdgeContext, next: @concurrent (Request, EdgeContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        guard !routes.isEmpty,
            let route = routes.first(where: { $0.method == request.method && $0.path == context.endpointPath })
        else { return response }
        // RFC 9745 and RFC 8594.
        response.headers[.deprecation] = "@\(Int(route.since.timeIntervalSince1970))"
        response.headers[.sunset] = route.sunset.formatted(Self.dates)
        response.headers[.link] = "<\(route.instead)>; rel=\"deprecation\""
        context.logger.info(
            "a route was used that will go away",
            metadata: [
                "route": "\(route.method.rawValue) \(route.path)",
                "client": "\(request.headers[.quartetClient] ?? "unknown")",
            ])
        return response
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
