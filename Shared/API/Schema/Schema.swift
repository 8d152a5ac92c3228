package import QuartetVocabulary

/// What JSON a type reads and writes, in the terms of JSON Schema (draft 2020-12, which OpenAPI 3.1 uses).
package indirect enum Schema: Hashable, Sendable {
    /// Any JSON.
    case any
    case boolean
    case integer(ClosedRange<Int>? = nil)
    case number(ClosedRange<Double>? = nil)
    /// - Parameters:
    ///   - format: As JSON Schema names it: `uuid`.
    ///   - pattern: As JSON Schema wants it: an ECMA-262 regular expression.
    case string(format: String? = nil, pattern: String? = nil)
    /// One of these texts.
    case words([String])
    case array(of: Schema)
    /// An object whose members have names of the sender's own.
    case map(of: Schema)
    case object(Object)
    case anyOf([Schema])

    /// An object of a Swift type.
    package struct Object: Hashable, Sendable {
        /// The type's name, under which a document describes it once.
        package let name: String
        package private(set) var properties: [Property]

        package init(name: String, _ properties: [Property] = []) {
            (self.name, self.properties) = (name, properties)
        }

        /// A member that is read twice is required if it is both times.
        package mutating func add(_ property: Property) {
            guard let known = properties.firstIndex(where: { $0.name == property.name }) else {
                return properties.append(property)
            }
            properties[known].isRequired = properties[known].isRequired && property.isRequired
        }
    }

    package struct Property: Hashable, Sendable {
        package let name: String
        package let schema: Schema
        package fileprivate(set) var isRequired: Bool

        package init(_ name: String, _ schema: Schema, isRequired: Bool = true) {
            (self.name, self.schema, self.isRequired) = (name, schema, isRequired)
        }
    }
}

extension Schema {
    /// The objects of this schema: itself, and those inside it.
    package var objects: [Object] {
        switch self {
        case .any, .boolean, .integer, .number, .string, .words: []
        case .array(let element), .map(let element): element.objects
        case .anyOf(let schemas): schemas.flatMap(\.objects)
        case .object(let object): [object] + object.properties.flatMap(\.schema.objects)
        }
    }

    /// The schema as a JSON document. Objects are references to `#/components/schemas/<name>`.
    package var document: JSONValue {
        switch self {
        case .any: [:]
        case .boolean: ["type": "boolean"]
        case .integer(let range):
            Self.document(
                "integer",
                [
                    "format": "int64", "minimum": range.map { .integer(Int64($0.lowerBound)) },
                    "maximum": range.map { .integer(Int64($0.upperBound)) },
                ])
        case .number(let range):
            Self.document(
                "number",
                ["minimum": range.map { .number($0.lowerBound) }, "maximum": range.map { .number($0.upperBound) }])
        case .string(let format, let pattern):
            Self.document("string", ["format": format.map(JSONValue.string), "pattern": pattern.map(JSONValue.string)])
        case .words(let words): ["type": "string", "enum": .array(words.map(JSONValue.string))]
        case .array(let element): ["type": "array", "items": element.document]
        case .map(let member): ["type": "object", "additionalProperties": member.document]
        case .object(let object): ["$ref": .string("#/components/schemas/\(object.name)")]
        case .anyOf(let schemas): ["anyOf": .array(schemas.map(\.document))]
        }
    }

    private static func document(_ type: JSONValue, _ members: [String: JSONValue?]) -> JSONValue {
        .object(members.compactMapValues(\.self).merging(["type": type]) { $1 })
    }
}

extension Schema.Object {
    /// The object as a JSON document.
    /// - Parameter isClosed: Whether it has no other members. The server refuses unknown ones, and readers should ignore them.
    package func document(isClosed: Bool) -> JSONValue {
        var members: [String: JSONValue] = [
            "type": "object",
            "properties": .object(Dictionary(properties.map { ($0.name, $0.document) }) { first, _ in first }),
        ]
        let required = properties.filter(\.isRequired).map(\.name)
        if !required.isEmpty { members["required"] = .array(required.map(JSONValue.string)) }
        if isClosed { members["additionalProperties"] = .bool(false) }
        return .object(members)
    }
}

extension Schema.Property {
    /// What may be left out may be null as well.
    fileprivate var document: JSONValue {
        isRequired || schema == .any ? schema.document : ["anyOf": [schema.document, ["type": "null"]]]
    }
}
