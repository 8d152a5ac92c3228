import Foundation
import QuartetAPI
import QuartetVocabulary
import TestKit
import Testing

@Suite("Error codes")
struct APIErrorTests {
    @Test(
        "each says a status over HTTP and gRPC that fit each other, whether to try again, and a sentence",
        arguments: APIError.Code.allCases)
    func meaning(code: APIError.Code) {
        let byGRPC: [APIError.GRPCStatus: ClosedRange<Int>] = [
            .invalidArgument: 400...422, .deadlineExceeded: 408...504, .notFound: 404...404, .alreadyExists: 409...409,
            .permissionDenied: 403...403, .unauthenticated: 401...401, .resourceExhausted: 409...429,
            .failedPrecondition: 409...426, .aborted: 409...409, .unimplemented: 404...501, .outOfRange: 416...416,
            .internal: 500...500,
            .unavailable: 202...503,
        ]
        #expect(byGRPC[code.grpcStatus]?.contains(code.httpStatus) == true, "\(code.grpcStatus) \(code.httpStatus)")
        #expect(code.sentence.first?.isUppercase == true || code.sentence.hasPrefix("Idempotency"))
        #expect(code.sentence.last == ".")
        // What is too much, too slow or away passes, unless a rule of the domain says so: a person has to want it again.
        if [408, 429, 503, 504].contains(code.httpStatus) {
            #expect((code.retry == .no) == [.tooSoon, .tooManyAttempts].contains(code))
        }
        #expect(APIError(code).retry == code.retry)
        #expect(APIError(code).detail == code.sentence)
    }

    @Test("a kept change ends with what the server decided, and with nothing else (S22, R14)")
    func verdicts() {
        let newKey: Set<APIError.Code> = [.expired, .failed, .idTooOld, .accountNotFound, .hostChanged]
        let sameKey: Set<APIError.Code> = [
            .noOutcomeYet, .incompleteBody, .missingToken, .invalidToken, .signedOut, .deviceSignedOut,
            .invalidCredentials, .tokenReused, .tooSlow, .notDue, .digestMismatch, .upgradeRequired, .tooManyLookUps,
            .tooManySignUps, .tooManyCodes, .tooManyStreams, .tooManyUploads, .tooManyCommands, .tooManyRequests,
            .tooManyReads, .tooManyOperations, .tooManyConnections, .tooManyDownloads, .internal, .overloaded,
            .serverStopping, .databaseUnavailable, .codeNotSent, .queryTooSlow,
        ]
        for code in APIError.Code.allCases {
            let expected: APIError.Verdict =
                newKey.contains(code) ? .staysUnderNewKey : sameKey.contains(code) ? .staysUnderItsKey : .ends
            #expect(APIError(code).verdict == expected, "\(code)")
        }
    }

    @Test(
        "a code that only a newer server knows is judged by what it says of repeating it, or else by its status (S22)",
        arguments: [
            (409, .no, .ends), (409, .newKey, .staysUnderNewKey), (409, .sameKey, .staysUnderItsKey),
            (503, .no, .ends), (409, nil, .ends), (422, nil, .ends), (401, nil, .staysUnderItsKey),
            (401, .no, .staysUnderItsKey), (426, .no, .staysUnderItsKey), (408, nil, .staysUnderItsKey),
            (425, nil, .staysUnderItsKey), (429, nil, .staysUnderItsKey), (429, .no, .ends),
            (500, nil, .staysUnderItsKey), (202, nil, .staysUnderItsKey),
        ] as [(Int, APIError.Retry?, APIError.Verdict)])
    func unknownCodes(status: Int, retry: APIError.Retry?, verdict: APIError.Verdict) {
        var error = APIError(.refused)
        error.unknownCode = .init(status: status, retry: retry)
        #expect(error.verdict == verdict)
    }

    @Test("every code of a contract's rejections is among them")
    func rejections() throws {
        var found: Set<String> = []
        for folder in ["Shared/Contracts", "Shared/Vocabulary"] {
            let files = FileManager.default.enumerator(atPath: Products.package.appending(path: folder).path)
            for case let name as String in files ?? .init() where name.hasSuffix(".swift") {
                let text = try String(
                    contentsOf: Products.package.appending(path: "\(folder)/\(name)"), encoding: .utf8)
                for match in text.matches(of: /static let \w+: Self = "([a-zA-Z]+)"/) { found.insert("\(match.1)") }
                for match in text.matches(of: /Rejection\(\s*"([a-zA-Z]+)"/) { found.insert("\(match.1)") }
            }
        }
        #expect(found.count > 20 && found.contains("consentRequired"))
        for code in found.sorted() { #expect(APIError.Code(rawValue: code) != nil, "\(code)") }
    }

    @Test("deploy/API.md lists each once, at its status")
    func documented() throws {
        let text = try String(contentsOf: Products.package.appending(path: "deploy/API.md"), encoding: .utf8)
        let section = try #require(text.split(separator: "\n## ").first { $0.hasPrefix("Errors\n") })
        var documented: [String] = []
        for row in section.matches(of: /(?m)^\| (\d{3}) \| (.*) \|$/) {
            for code in row.2.matches(of: /`([a-zA-Z]+)`(?!`)/) where code.1 != "reason" {
                documented.append("\(code.1) \(row.1)")
            }
        }
        #expect(documented.sorted() == APIError.Code.allCases.map { "\($0.rawValue) \($0.httpStatus)" }.sorted())
    }

    @Test(
        "a refusal says after how many seconds to come back, however many those are",
        arguments: [(0, 0), (1, 1), (999_999, 1), (1_000_001, 2), (-1, 0), (Int64.max, 9_223_372_036_855)])
    func retryAfter(microseconds: Int64, seconds: Int) {
        let rejection = Rejection(.idReused, "later", retryAfter: Interval(microseconds: microseconds))
        #expect(APIError(rejection).retryAfter == seconds)
    }

    @Test("a refusal that only a newer service knows keeps its code as the reason; somebody else's account isn't there")
    func unknown() {
        let newer = APIError(Rejection("fromTomorrow", "Not today."))
        #expect(newer.code == .refused && newer.reason == "fromTomorrow" && newer.detail == "Not today.")
        #expect(APIError(Rejection("accountNotFound", "Nobody.", field: "contact")).code == .notFound)
        #expect(APIError(Rejection("accountNotFound", "Not yet.")).code == .accountNotFound)
    }
}
