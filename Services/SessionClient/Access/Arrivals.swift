import API
import Vocabulary

/// Lets bulk bytes in: so many bodies a minute, and so many at a time. Each is in memory for as long as it takes to arrive.
struct Arrivals: Sendable {
    /// How many of an account and of an address, and of everybody.
    struct Limits {
        let perMinute: Int
        let perMinuteFromAddress: Int
        let atOnce: Int
        let atOnceFromAddress: Int
        let atOnceAltogether: Int
    }

    private let rate: RateLimit<AccountID>
    private let rateOfAddress: RateLimit<String>
    private let places: Places<AccountID>
    private let placesOfAddress: Places<String>
    private let allPlaces: Places<Everybody>
    private enum Everybody { case all }

    init(_ limits: Limits) {
        rate = RateLimit(perMinute: limits.perMinute)
        rateOfAddress = RateLimit(perMinute: limits.perMinuteFromAddress)
        places = Places(limit: limits.atOnce)
        placesOfAddress = Places(limit: limits.atOnceFromAddress)
        allPlaces = Places(limit: limits.atOnceAltogether)
    }

    /// Runs `body`, which receives the bytes, if there is room.
    /// - Throws: `tooManyUploads`, `overloaded`.
    func admit<Value: Sendable>(
        _ caller: Caller, _ call: Call, _ body: () async throws -> Value
    ) async throws -> Value {
        guard rate.admit(caller.account), rateOfAddress.admit(call.address),
            let place = places.enter(caller.account), let placeOfAddress = placesOfAddress.enter(call.address)
        else { throw APIError(.tooManyUploads, retryAfter: rate.pause) }
        defer {
            place.leave()
            placeOfAddress.leave()
        }
        guard let arrival = allPlaces.enter(.all) else {
            throw APIError(.overloaded, "There are too many uploads at once; try again in a second.", retryAfter: 1)
        }
        defer { arrival.leave() }
        return try await body()
    }
}
