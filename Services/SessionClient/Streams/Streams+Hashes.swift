import API
import Bus
import ContractSupport
import Foundation
import Vocabulary

extension Streams {
    /// The hash of each of the account's states and where its sequence was then, so that an app can tell whether its copies have
    /// diverged.
    func hashes(for caller: Caller) async throws -> StreamHashes {
        var hashes: [StreamHashes.Entry] = []
        for source in sources {
            let (state, token) = try await source.reader.state(
                of: .account(caller.account), try source.state(caller.account))
            var hash = StateHash()
            hash.add(StateHash.Entity(try JSONDecoder().decode(JSONValue.self, from: Data(state)).withoutNulls))
            hashes.append(.init(stream: source.name.description, id: "\(source.name)=\(token)", hash: "\(hash)"))
        }
        return StreamHashes(hashes: hashes)
    }
}

extension JSONValue {
    /// Without the members of objects that are null, which mean the same as none.
    fileprivate var withoutNulls: JSONValue {
        switch self {
        case .object(let members):
            .object(members.compactMapValues { $0 == .null ? nil : $0.withoutNulls })
        case .array(let elements): .array(elements.map(\.withoutNulls))
        case .null, .bool, .integer, .number, .string: self
        }
    }
}
