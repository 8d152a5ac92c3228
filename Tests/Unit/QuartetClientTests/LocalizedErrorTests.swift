import Foundation
import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary
import TestKit
import Testing

@testable import QuartetClient
@testable import package_graph

/// What an app shows that knows nothing of an error but `localizedDescription`.
@Suite("Errors as people read them")
struct LocalizedErrorTests {
    /// Of each type that apps can see, by its name.
    private static let errors: [String: [any Error]] = [
        "QuartetError": [
            QuartetError.refused(APIError(.seatTaken)), QuartetError.willBeSentWhenOnline,
            QuartetError.serverError(APIError(.overloaded)), QuartetError.expired, QuartetError.outboxFull,
            QuartetError.superseded, QuartetError.notStored("x"), QuartetError.offline, QuartetError.unknown,
            QuartetError.needsAuthentication, QuartetError.tokensUnavailable("x"), QuartetError.signOutUntold,
            QuartetError.tooManyAccounts(limit: 8), QuartetError.notConfigured("x"), QuartetError.cancelled,
            QuartetError.unreadable("x"),
        ],
        "ConnectionError": [
            ConnectionError.transport(.unreachable("x.")), ConnectionError.silent,
            ConnectionError.refused(APIError(.overloaded)), ConnectionError.ended(.tokenExpired),
            ConnectionError.closed,
            ConnectionError.notSignedIn, ConnectionError.signedOut(nil), ConnectionError.signedOut(.revoked),
            ConnectionError.tokenRefused, ConnectionError.tokensUnavailable("x"), ConnectionError.tokensUnreadable,
            ConnectionError.outOfSequence(.contacts), ConnectionError.stale,
        ],
        "TransportError": [
            TransportError.unreachable("x"), TransportError.interrupted("x"), TransportError.malformed("x"),
        ],
        "APIError": APIError.Code.allCases.map { APIError($0) },
        "Rejection": [Rejection("seatTaken", "Someone else has this seat."), Rejection("brandNew", "It is new.")],
        "MessageError": [
            MessageError.unknownType("A", version: 1), MessageError.malformed(type: "A", reason: "x", field: nil),
            MessageError.unknownWord(type: "A", version: 1, field: nil, reason: "x"),
        ],
        "AccountListProblem": [AccountListProblem.unavailable("x"), AccountListProblem.damaged("x")],
        "TokensUnreadable": [TokensUnreadable()], "RenewedStore": [RenewedStore()],
        "ForgottenAccount": [ForgottenAccount()], "OutdatedCopy": [OutdatedCopy()],
        "OvertakenItem": [OvertakenItem(by: 1)],
    ]
    /// The keychain's, which is on Apple's systems only: `DocumentationTests` compiles it.
    private static let elsewhere: Set = ["Failure"]

    @Test(
        """
        every error that apps can see is a LocalizedError, and each code and case of it a sentence in the language of the app's texts \
        (R15)
        """
    )
    func sentences() throws {
        let (english, german) = (Texts(languages: ["en"]), Texts(languages: ["de"]))
        let keys = Set(Texts.catalogues["en", default: [:]].keys)
        for (name, errors) in Self.errors {
            for error in errors {
                #expect(error is any LocalizedError, "\(name)")
                let sentences = [english, german].map { texts in
                    Texts.$scoped.withValue(texts) { error.localizedDescription }
                }
                #expect(sentences[0] != sentences[1], "\(error): \(sentences[0])")
                for sentence in sentences {
                    #expect(sentence.hasSuffix(".") && !sentence.contains("{"), "\(error): \(sentence)")
                    #expect(!keys.contains(sentence), "\(error): \(sentence)")
                    // What Foundation says of errors that say nothing.
                    #expect(!sentence.contains(name), "\(error): \(sentence)")
                }
            }
        }
    }

    @Test("every public error type of what apps import is among them (R15)")
    func types() throws {
        let declaration = #/public +(?:(?:final|indirect) +)?(?:enum|struct|class) +(\w+) *:([^{]*)\{/#
        let files = try PublicNames.folders.flatMap {
            try PackageGraph.File.below(Products.package.appending(path: $0), named: $0)
        }
        let declared = files.flatMap { file in
            file.text.matches(of: declaration).filter { match in
                match.2.split { !$0.isLetter }.contains { $0 == "Error" || $0 == "LocalizedError" }
            }.map { String($0.1) }
        }
        #expect(Set(declared) == Self.elsewhere.union(Self.errors.keys))
    }

    @Test("every case of what goes wrong for a person is among them (R15)")
    func cases() throws {
        let cases = #/(?m)^    case (\w+)/#
        for (name, place) in [
            ("QuartetError", "Requests/QuartetError"), ("AccountListProblem", "Local/AccountShelf"),
            ("ConnectionError", "Connection/ConnectionState"), ("TransportError", "Transport/Transport"),
        ] {
            let file = Products.package.appending(path: "Shared/Client/QuartetClient/\(place).swift")
            let text = try String(contentsOf: file, encoding: .utf8)
            let start = try #require(text.range(of: "public enum \(name): ")).lowerBound
            let end = try #require(text.range(of: "\n}", range: start..<text.endIndex)).lowerBound
            let declared = Set(text[start..<end].matches(of: cases).map { String($0.1) })
            let tried = Set(
                Self.errors[name, default: []].map { error in
                    // The name of a case that has a value; what else one says, which no other case does.
                    Mirror(reflecting: error).children.first?.label ?? "\(error)"
                })
            #expect(declared.count == tried.count, "\(name): \(declared), \(tried)")
        }
    }

    @Test("an app's own texts are what errors say, in each of its tasks (R15)")
    func ofTheApp() async {
        let texts = Texts(languages: ["en"], replacing: ["problem.offline": "Kein Netz."])
        await Texts.$scoped.withValue(texts) {
            #expect(QuartetError.offline.localizedDescription == "Kein Netz.")
            let elsewhere = await Task { (TransportError.unreachable("x") as any Error).localizedDescription }.value
            #expect(elsewhere == "Kein Netz.")
        }
        #expect(QuartetError.offline.localizedDescription == Texts.current.sentence(QuartetError.offline))
    }
}
