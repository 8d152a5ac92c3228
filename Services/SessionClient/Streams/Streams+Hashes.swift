import Bus
import Foundation
import QuartetAPI
import QuartetContractSupport
import QuartetVocabulary

extension Streams {
    /// The hash of each of the account's states and where its sequence was then, so that an app can tell whether its copies have
    /// diverged.
    func hashes(for caller: Caller) async throws -> StreamHashes {
        var hashes: [StreamHashes.Entry] = []
        for source in sources {
            let (state, token) = try await source.reader.state(
                of: .account(caller.account), try source.state(caller.account))
            let hash = StateHash(ofWhole: try JSONDecoder().decode(JSONValue.self, from: Data(state)))
            hashes.append(.init(stream: source.name.description, id: "\(source.name)=\(token)", hash: "\(hash)"))
        }
        return StreamHashes(hashes: hashes)
    }
}
