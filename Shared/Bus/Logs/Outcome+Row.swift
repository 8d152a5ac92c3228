import Foundation
import QuartetVocabulary

/// For values that can't fail to encode: a few strings.
func encodedOrEmpty(_ value: some Encodable) -> [UInt8] {
    (try? JSONEncoder().encode(value)).map(Array.init) ?? Array("{}".utf8)
}

extension Outcome {
    /// Reads an outcome from a row of a log or of the table `outcome`.
    init(_ kind: Kind, type: String, body: [UInt8], partition: Partition, position: Position) {
        switch kind {
        case .accepted:
            self = .accepted(event: CausedEvent(partition: partition, position: position, type: type, body: body))
        case .rejected:
            self = .rejected(
                (try? JSONDecoder().decode(Rejection.self, from: Data(body)))
                    ?? Rejection(.malformed, "the reason can't be read"))
        case .failed:
            self = .failed(code: (try? JSONDecoder().decode(Failed.self, from: Data(body)))?.code ?? "error")
        }
    }
}
