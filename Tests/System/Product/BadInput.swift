/// A request that would be accepted, to be spoilt in one place at a time.
///
/// ```swift
/// Form("MarkRead", ["id": "\"<told>\""]).refuses(.missing("id"), .malformed("id", notIDs), .unknown("at"))
/// ```
/// Values are JSON as it is sent, since many aren't values that a type could hold. Words such as `<bob>` stand for what the test's
/// scene knows.
struct Form: Sendable {
    /// A command's name, or a path.
    let request: String
    let fields: [(name: String, value: String)]

    init(_ request: String, _ fields: KeyValuePairs<String, String> = [:]) {
        self.init(request, fields.map { ($0.key, $0.value) })
    }

    init(_ request: String, _ fields: [(name: String, value: String)]) {
        (self.request, self.fields) = (request, fields)
    }

    /// The rules by which these bodies are refused.
    func refuses(_ refusals: Refusal...) -> [Rule] {
        refusals.flatMap { refusal in
            refusal.changes.map { change in
                Rule(
                    request: request, body: body(with: change), status: refusal.status, code: refusal.code,
                    field: refusal.path(of: change))
            }
        }
    }

    private func body(with change: Refusal.Change) -> String {
        var fields = fields
        switch change {
        case .whole(let body): return body
        case .without(let name): fields.removeAll { $0.name == name }
        case .with(let name, let value):
            if let index = fields.firstIndex(where: { $0.name == name }) {
                fields[index].value = value
            } else {
                fields.append((name, value))
            }
        }
        return "{\(fields.map { "\"\($0.name)\":\($0.value)" }.joined(separator: ","))}"
    }
}

/// What spoils a form, and how that is refused.
struct Refusal: Sendable {
    enum Change: Sendable {
        /// A field has this value, whether or not the form has the field.
        case with(String, String)
        case without(String)
        /// Another body altogether.
        case whole(String)
    }

    let changes: [Change]
    let status: Int
    let code: String
    /// The field that must be named; nil for the one that is changed.
    private let path: String?

    private init(_ changes: [Change], _ status: Int, _ code: String, _ path: String?) {
        (self.changes, self.status, self.code, self.path) = (changes, status, code, path)
    }

    func path(of change: Change) -> String? {
        switch change {
        case .with(let name, _), .without(let name): path ?? name
        case .whole: path
        }
    }

    /// Values that the decoder refuses.
    static func malformed(_ field: String, _ values: [String], at path: String? = nil) -> Refusal {
        refused(field, values, 400, "malformed", at: path)
    }

    /// Values that the field's rule refuses.
    static func invalid(_ field: String, _ values: [String], at path: String? = nil) -> Refusal {
        refused(field, values, 422, "invalidField", at: path)
    }

    static func refused(
        _ field: String, _ values: [String], _ status: Int, _ code: String, at path: String? = nil
    ) -> Refusal {
        Refusal(values.map { .with(field, $0) }, status, code, path)
    }

    /// Fields that can't be left out.
    static func missing(_ fields: String...) -> Refusal {
        Refusal(fields.map { .without($0) }, 400, "malformed", nil)
    }

    /// Fields that the request doesn't have.
    static func unknown(_ fields: String...) -> Refusal {
        Refusal(fields.map { .with($0, "\"<anna>\"") }, 400, "malformed", nil)
    }

    /// Bodies that the decoder refuses; no field is named unless said.
    static func malformed(bodies: [String], at path: String? = nil) -> Refusal {
        refused(bodies: bodies, 400, "malformed", at: path)
    }

    static func refused(bodies: [String], _ status: Int, _ code: String, at path: String? = nil) -> Refusal {
        Refusal(bodies.map { .whole($0) }, status, code, path)
    }
}

/// A body, and how it is refused.
struct Rule: Sendable {
    let request: String
    let body: String
    let status: Int
    let code: String
    /// The field that must be named; nil where none must be.
    let field: String?
}
