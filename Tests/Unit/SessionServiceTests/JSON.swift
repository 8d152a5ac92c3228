import Foundation

enum JSON {
    /// The JSON of a value without its quotation marks.
    static func text(of value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self).trimmingCharacters(in: ["\""])
    }
}
