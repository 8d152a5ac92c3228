import Foundation
import NotificationsContract
import Postgres

// How kinds and details are kept in columns.

extension NotificationKind {
    /// - Throws: ``UnknownKind``, when a newer service wrote it.
    init(stored text: String) throws {
        guard let kind = Self(rawValue: text) else { throw UnknownKind(text: text) }
        self = kind
    }
}

extension NotificationDetails {
    init(stored json: JSON) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(json.bytes))
    }

    var stored: JSON {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return JSON(Array(try encoder.encode(self)))
        }
    }
}

/// A row has a kind that this service doesn't know.
struct UnknownKind: Error, CustomStringConvertible {
    let text: String
    var description: String {
        "nobody here knows notifications of the kind \(text): a newer service wrote it? Update this one"
    }
}
