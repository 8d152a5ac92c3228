import Crypto
import Foundation
import QuartetSessionContract
import Testing

@testable import SessionClientService

@Suite("Session-client: places for hashing")
struct PasswordsTests {
    private static let password = "a long enough password"

    @Test("neither a crowd of strangers nor one address keeps known devices out (S41)")
    func placesAreKept() async throws {
        let key = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }.base64EncodedString()
        let passwords = Passwords(keys: try ServerKeys(key), waitingLimit: 8)
        let handle = try Handle("anna")
        await withTaskGroup(of: Bool.self) { crowd in
            for number in 0..<40 {
                crowd.addTask {
                    (try? await passwords.verifier(of: Self.password, for: handle, from: "address \(number)")) != nil
                }
            }
            // The first one that is refused shows that the room for strangers is full.
            while let isAdmitted = await crowd.next(), isAdmitted {}
            let own = try? await passwords.verifier(of: Self.password, for: handle, from: "home", isSignedIn: true)
            #expect(own != nil)
        }
    }
}
