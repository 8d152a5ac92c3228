import QuartetAPI
import QuartetVocabulary

/// A value in the path or the query, declared and read by the same thing.
struct Parameter<Value: Sendable>: Sendable {
    let declaration: ParameterDeclaration
    private let value: @Sendable ([String]) throws(APIError) -> Value

    init(_ declaration: ParameterDeclaration, _ value: @escaping @Sendable ([String]) throws(APIError) -> Value) {
        (self.declaration, self.value) = (declaration, value)
    }

    /// - Throws: `invalidID`, `invalidParameter`.
    func read(_ parameters: [String: [String]]) throws(APIError) -> Value {
        try value(parameters[declaration.name] ?? [])
    }
}

struct ParameterDeclaration: Sendable {
    enum Place: String, Sendable {
        case path, query, header
    }

    let place: Place
    let name: String
    /// A sentence.
    let summary: String
    let schema: Schema
    var isRequired: Bool { place == .path }
}

extension Parameter where Value: TextCodable & SchemaDescribed {
    /// A part of the path that has a form of its own.
    static func path(_ name: String, _ summary: String) -> Self {
        Self(ParameterDeclaration(place: .path, name: name, summary: summary, schema: Value.schema)) {
            texts throws(APIError) in
            guard let value = texts.first.flatMap(Value.init) else {
                throw APIError(.invalidID, "\(name) in the path must be \(Value.form).", field: name)
            }
            return value
        }
    }

    /// An id that may be left out.
    static func query(_ name: String, _ summary: String) -> Parameter<Value?> {
        let all = every(name, summary)
        return Parameter<Value?>(
            ParameterDeclaration(place: .query, name: name, summary: summary, schema: Value.schema)
        ) { texts throws(APIError) in try all.read([name: texts]).first }
    }

    /// An id, as often as it is given.
    static func every(_ name: String, _ summary: String) -> Parameter<[Value]> {
        Parameter<[Value]>(
            ParameterDeclaration(place: .query, name: name, summary: summary, schema: .array(of: Value.schema))
        ) { texts throws(APIError) in
            var values: [Value] = []
            for text in texts {
                guard let value = Value(text) else {
                    throw APIError(.invalidParameter, "\(name) must be \(Value.form).", field: name)
                }
                values.append(value)
            }
            return values
        }
    }
}

extension Parameter where Value: CaseIterable & RawRepresentable, Value.RawValue == String {
    /// One of a few words, which may be left out.
    static func choice(_ name: String, _ summary: String) -> Parameter<Value?> {
        let all = choices(name, summary)
        return Parameter<Value?>(
            ParameterDeclaration(place: .query, name: name, summary: summary, schema: schema)
        ) { texts throws(APIError) in try all.read([name: texts]).first }
    }

    /// One of a few words, as often as it is given.
    static func choices(_ name: String, _ summary: String) -> Parameter<[Value]> {
        Parameter<[Value]>(
            ParameterDeclaration(place: .query, name: name, summary: summary, schema: .array(of: schema))
        ) { texts throws(APIError) in
            var choices: [Value] = []
            for text in texts {
                guard let choice = Value(rawValue: text) else {
                    let words = Value.allCases.map(\.rawValue).joined(separator: ", ")
                    throw APIError(.invalidParameter, "\(name) must be one of \(words).", field: name)
                }
                choices.append(choice)
            }
            return choices
        }
    }

    private static var schema: Schema { .words(Value.allCases.map(\.rawValue)) }
}

extension Parameter<Bool> {
    /// On or off; off where it is left out.
    static func flag(_ name: String, _ summary: String) -> Self {
        Self(ParameterDeclaration(place: .query, name: name, summary: summary, schema: .boolean)) {
            texts throws(APIError) in
            switch texts.first {
            case nil, "false": return false
            case "true": return true
            default: throw APIError(.invalidParameter, "\(name) must be one of true, false.", field: name)
            }
        }
    }
}

extension Parameter<Int?> {
    /// A number that may be left out.
    static func number(
        _ name: String, in range: ClosedRange<Int>, at place: ParameterDeclaration.Place = .query, _ summary: String
    ) -> Self {
        Self(ParameterDeclaration(place: place, name: name, summary: summary, schema: .integer(range))) {
            texts throws(APIError) in
            guard let text = texts.first else { return nil }
            guard let number = Int(text), range.contains(number) else {
                let subject = place == .path ? "\(name) in the path" : name
                throw APIError(
                    .invalidParameter, "\(subject) must be a number from \(range.lowerBound) to \(range.upperBound).",
                    field: name)
            }
            return number
        }
    }
}

extension Parameter<Int> {
    /// A number in the path.
    static func path(_ name: String, in range: ClosedRange<Int>, _ summary: String) -> Self {
        let number = Parameter<Int?>.number(name, in: range, at: .path, summary)
        return Self(number.declaration) { texts throws(APIError) in
            guard let value = try number.read([name: texts]) else { throw APIError(.invalidParameter, field: name) }
            return value
        }
    }
}

extension Parameter<String?> {
    /// A text that only the server understands, which may be left out.
    static func text(_ name: String, _ summary: String) -> Self {
        Self(ParameterDeclaration(place: .query, name: name, summary: summary, schema: .string())) { $0.first }
    }
}

extension Parameter<[String]> {
    /// A text, as often as it is given.
    static func texts(_ name: String, _ summary: String) -> Self {
        Self(
            ParameterDeclaration(place: .query, name: name, summary: summary, schema: .array(of: .string()))
        ) { $0 }
    }
}
