import API
import Hummingbird
import Vocabulary

/// A query parameter that is on or off.
enum YesOrNo: String, CaseIterable {
    case yes = "true"
    case no = "false"
}

extension Request {
    /// A query parameter that is one of a few words.
    /// - Throws: `invalidParameter`, which names the words.
    func choice<Choice: CaseIterable & RawRepresentable>(
        _ name: String, of: Choice.Type = Choice.self
    ) throws(APIError) -> Choice? where Choice.RawValue == String {
        let choices: [Choice] = try choices(name)
        return choices.first
    }

    /// Query parameters of one name that are each one of a few words.
    /// - Throws: `invalidParameter`, which names the words.
    func choices<Choice: CaseIterable & RawRepresentable>(
        _ name: String, of: Choice.Type = Choice.self
    ) throws(APIError) -> [Choice] where Choice.RawValue == String {
        var choices: [Choice] = []
        for text in uri.queryParameters[values: Substring(name)] {
            guard let choice = Choice(rawValue: String(text)) else {
                let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
                throw APIError(.invalidParameter, "\(name) must be one of \(words).", field: name)
            }
            choices.append(choice)
        }
        return choices
    }

    /// A query parameter that is a number.
    /// - Throws: `invalidParameter`, which names the range.
    func number(_ name: String, in range: ClosedRange<Int>) throws(APIError) -> Int? {
        guard let text = uri.queryParameters[Substring(name)] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw APIError(
                .invalidParameter, "\(name) must be a number from \(range.lowerBound) to \(range.upperBound).",
                field: name)
        }
        return number
    }

    /// A query parameter that is an id.
    /// - Throws: `invalidParameter`.
    func id<Subject>(_ name: String) throws(APIError) -> ID<Subject>? {
        let ids: [ID<Subject>] = try ids(name)
        return ids.first
    }

    /// A query parameter that is an id, as often as it is given.
    /// - Throws: `invalidParameter`.
    func ids<Subject>(_ name: String) throws(APIError) -> [ID<Subject>] {
        var ids: [ID<Subject>] = []
        for text in uri.queryParameters[values: Substring(name)] {
            guard let id = ID<Subject>(String(text)) else {
                throw APIError(.invalidParameter, "\(name) must be a UUID.", field: name)
            }
            ids.append(id)
        }
        return ids
    }
}

extension RequestContext {
    /// A part of the path that is an id.
    /// - Throws: `invalidID`.
    func id<Subject>(_ name: String, as: Subject.Type = Subject.self) throws(APIError) -> ID<Subject> {
        try part(name)
    }

    /// A part of the path that has a form of its own.
    /// - Throws: `invalidID`.
    func part<Value: TextCodable>(_ name: String) throws(APIError) -> Value {
        guard let text = parameters.get(name), let value = Value(text) else {
            throw APIError(.invalidID, "\(name) in the path must be \(Value.form).", field: name)
        }
        return value
    }
}
