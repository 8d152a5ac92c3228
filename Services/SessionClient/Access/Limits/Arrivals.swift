import QuartetAPI
import QuartetVocabulary

/// Lets bulk bytes in: so many bodies a minute, and so many at a time. Each is in memory for as long as it takes to arrive.
struct Arrivals: Sendable {
    private let rate: RateLimit<AccountID>
    private let rateOfAddress: RateLimit<String>
    private let places: Places<AccountID>
    private let placesOfAddress: Places<String>
    private let allPlaces: Places<Everybody>
    private enum Everybody { case all }

    /// - Parameters:
    ///   - rate: How many of an account, and of an address.
    ///   - atOnce: The same, at a time.
    init(
        rate: (account: Limit<Rate>, address: Limit<Rate>), atOnce: (account: Limit<Int>, address: Limit<Int>)
    ) {
        self.rate = RateLimit(rate.account)
        rateOfAddress = RateLimit(rate.address)
        places = Places(atOnce.account)
        placesOfAddress = Places(atOnce.address)
        allPlaces = Places(EdgeLimits.arrivals)
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
