import Foundation
import QuartetAPI
import QuartetContractSupport
import QuartetVocabulary
import Testing

@testable import SessionClientService

@Suite("Session-client: the description of the API")
struct OpenAPITests {
    private static let declarations = Endpoint.all.map(\.declaration) + HTTPEndpoint.all.map(\.declaration)

    /// Everything that a document refers to.
    private static func references(in value: JSONValue) -> [String] {
        switch value {
        case .object(let members):
            members.flatMap { name, value in
                if name == "$ref", case .string(let reference) = value { [reference] } else { references(in: value) }
            }
        case .array(let elements): elements.flatMap(references)
        case .null, .bool, .integer, .number, .string: []
        }
    }

    @Test("every endpoint is an operation, and every type that the document refers to is described in it (T23)")
    func complete() throws {
        let document = try OpenAPI(Self.declarations).document
        for declaration in Self.declarations {
            let operation = document["paths"]?[declaration.path]?[declaration.method.rawValue.lowercased()]
            #expect(operation?["operationId"] == .string(declaration.name))
            for code in declaration.codes {
                #expect(
                    operation?["responses"]?["\(code.httpStatus)"]?["content"]?["application/problem+json"] != nil,
                    "\(declaration.name) \(code)")
            }
        }
        for reference in Set(Self.references(in: document)) {
            let name = reference.replacing("#/components/schemas/", with: "")
            #expect(document["components"]?["schemas"]?[name] != nil, "\(reference)")
        }
    }

    @Test(
        "the operation of each command says what it goes before and for how many seconds an app may send it, and no other says so (S22)"
    )
    func sending() throws {
        let paths = try OpenAPI(Self.declarations).document["paths"]
        func operation(_ declaration: Endpoint.Declaration) -> JSONValue? {
            paths?[declaration.path]?[declaration.method.rawValue.lowercased()]
        }
        var said: Set<String> = []
        for declaration in Self.declarations where operation(declaration)?["x-precedence"] != nil {
            let sending = try #require(appCommands[declaration.name]?.sending, "\(declaration.path)")
            let (precedence, seconds) = (sending.precedence.rawValue, sending.lifetime.microseconds / 1_000_000)
            #expect(operation(declaration)?["x-precedence"] == .string(precedence), "\(declaration.path)")
            #expect(operation(declaration)?["x-valid-for"] == .integer(seconds), "\(declaration.path)")
            #expect(said.insert(declaration.name).inserted, "\(declaration.path)")
        }
        #expect(said == Set(appCommands.keys))
        let checkIn = paths?["/v1/commands/CheckIn"]?["post"]
        #expect(checkIn?["x-precedence"] == "urgent" && checkIn?["x-valid-for"] == 300)
    }

    @Test("types that Swift calls otherwise have their former names in the document (T23)")
    func formerNames() throws {
        let schemas = try OpenAPI(Self.declarations).document["components"]?["schemas"]
        let names: Set<String> = if case .object(let members)? = schemas { Set(members.keys) } else { [] }
        #expect(names.isSuperset(of: ["Activity", "Attachment", "Notification", "Participant"]))
        let renamed = ["GroupSessionActivity", "GroupAttachment", "QuartetNotification", "GroupParticipant"]
        #expect(names.isDisjoint(with: renamed))
    }

    @Test("the example of every request is what the server reads (T23)", arguments: Endpoint.all.indices)
    func examples(_ index: Int) throws {
        let declaration = Endpoint.all[index].declaration
        guard case .json(let body)? = declaration.body, let schema = try declaration.sentSchema else { return }
        let example = try schema.example.canonical
        #expect(throws: Never.self, "\(declaration.name) \(example)") {
            _ = try body.decodedStrictly(from: Array(example.utf8))
        }
    }

    @Test(
        "every code has a sentence for people and a page that says it, and every code is declared or between services (R15)"
    )
    func errors() throws {
        let pages = DocumentPages(declarations: Self.declarations, objects: [:])
        for code in APIError.Code.allCases {
            #expect(code.sentence.hasSuffix(".") && code.sentence.count > 10, "\(code)")
            let page = "\(pages.error(code))"
            #expect(page.contains(code.rawValue) && page.contains("\(code.httpStatus)"), "\(code)")
        }
        let declared = Set(Self.declarations.flatMap(\.codes))
        let undeclared = Set(APIError.Code.allCases).subtracting(declared)
        #expect(undeclared == Self.elsewhere)
    }

    /// Codes that no endpoint is refused with.
    private static let elsewhere: Set<APIError.Code> = [
        // Between services.
        .accountExists, .accountRequired, .notDue, .edgeNotFound,
        // For what the edge makes up itself.
        .codeTaken, .groupExists,
        // Where there is no endpoint.
        .methodNotAllowed, .unknownCommand, .unknownOperation,
        // Before a request is read.
        .tooManyConnections,
    ]

    @Test("texts can't become markup in the documentation")
    func escaped() {
        let text = "<script>\"&'"
        let html: HTML = "\(text)"
        #expect(html.description == "&lt;script&gt;&quot;&amp;&#39;")
    }
}
