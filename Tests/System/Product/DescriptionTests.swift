import EdgeClient
import Foundation
import TestKit
import Testing
import WebDriver

@Suite("End to end: the description of the API", .timeLimit(.minutes(60)))
struct DescriptionTests {
    private static let python = Products.package.appending(path: ".local/python/bin/python").path

    @Test(
        "the document is valid OpenAPI, and for four accounts and an operator no answer is outside of what it says, and none fails (T23)"
    )
    func conforms() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            let environment = try quartet.forOperators.merging(["PHONE_CODES": "log"]) { $1 }
            try await quartet.start(.sessionClient, environment: environment)
            let key = try await quartet.makeKey("on-call", "act")
            let people = [
                try await quartet.signUp("anna"), try await quartet.signUp("bob"), try await quartet.signUp("carl"),
                try await quartet.signUp("dora"),
            ]
            try await people[0].add(people[1], isMyResponder: true)
            let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Description/conform.py")
            try await ChildProcess.with(
                Self.python, [script.path, try quartet.url, key] + people.map { $0.token }
            ) { conform in
                try await conform.waitForExit(.exited(0), within: .seconds(600))
            }
        }
    }

    @Test("a path allows exactly the methods that the document lists (T22)")
    func methods() async throws {
        try await Quartet.withOperators { quartet in
            let document = try await quartet.edge.send("GET", "/openapi.json").body
            let id = "019ce697-4800-8859-ab31-40077031f2b4"
            for (path, operations) in document["paths"].members where !path.hasPrefix("/v1/commands/") {
                let filled = path.replacing(/\{\w+\}/, with: id)
                // An operation's name and an operation's id are at the same place.
                let isOperation = path.hasPrefix("/v1/operations/")
                let allowed = try #require(
                    try await quartet.edge.send("PATCH", filled).headers["allow"], "\(path) isn't served")
                var methods = Set(operations.members.keys.map { $0.uppercased() })
                if isOperation { methods.formUnion(["GET", "POST"]) }
                if methods.contains("GET") { methods.insert("HEAD") }
                #expect(Set(allowed.components(separatedBy: ", ")) == methods, "\(path)")
            }
        }
    }

    @Test("a browser shows the documentation and a page for each error, without other hosts (R7, R15)")
    func pages() async throws {
        try await Console.with { console in
            let page = try await console.browser()
            try await page.go("/docs")
            try await page.see("Quartet: the API")
            try await page.see("SendPing")
            try await page.screenshot("docs")
            try await page.go("/docs/errors/notYourTurn")
            try await page.see("It isn't your turn.")
            try await page.screenshot("docs-error")
            try await page.go("/docs/limits")
            try await page.see("open streams")
            try await page.screenshot("docs-limits")
            try await page.expectNoErrors()
            let codes = try await console.quartet.edge.send("GET", "/openapi.json")
                .body["components"]["schemas"]["Problem"]["properties"]["code"]["enum"].array.compactMap(\.string)
            #expect(codes.count > 100)
            // The documentation itself may fetch nothing.
            try await page.go("/welcome")
            let missing = try await page.runAsync(
                """
                const pages = await Promise.all(args[0].map(async (code) => [code, (await fetch(`/docs/errors/${code}`)).status]));
                return pages.filter(([, status]) => status !== 200);
                """, .array(codes.map(JSON.string)))
            #expect(missing == [])
            let unknown = try await console.quartet.edge.send("GET", "/docs/errors/none")
            #expect(unknown.status == 404 && unknown.body["type"] == "/docs/errors/notFound")
        }
    }

    @Test("the API reference's curl examples do what they say (R7)")
    func curlExamples() async throws {
        let text = try String(contentsOf: Products.package.appending(path: "deploy/API.md"), encoding: .utf8)
        let examples = text.split(separator: "\n").filter { $0.hasPrefix("$ curl ") }.map { String($0.dropFirst(2)) }
        #expect(examples.count >= 3)
        try await Quartet.with { quartet in
            var token = ""
            for example in examples {
                let command = example.replacing("localhost:8080", with: try quartet.url.replacing("http://", with: ""))
                try await ChildProcess.with("/bin/sh", ["-c", command], environment: ["TOKEN": token]) { curl in
                    guard !example.contains("/v1/stream") else {
                        try await curl.waitForLine(containing: "event: account.snapshot")
                        return
                    }
                    try await curl.waitForLine(containing: "}")
                    try await curl.waitForExit(.exited(0))
                    let answer = try JSON(parsing: curl.lines(on: .output).joined())
                    #expect(answer["code"].string == nil, "\(example): \(answer)")
                    token = answer["accessToken"].string ?? token
                }
            }
        }
    }
}

extension JSON {
    fileprivate var members: [String: JSON] { if case .object(let members) = self { members } else { [:] } }
}
