package import QuartetVocabulary

extension Schema {
    /// Whether it has lists that must be there. On the wire of Protobuf an empty one isn't.
    package var needsLists: Bool {
        switch self {
        case .array(let element), .map(let element): element.needsLists
        case .object(let object):
            object.properties.contains { $0.schema.needsLists || ($0.isRequired && $0.schema.isList) }
        case .any, .boolean, .integer, .number, .string, .words, .anyOf: false
        }
    }

    private var isList: Bool {
        switch self {
        case .array, .map: true
        default: false
        }
    }

    /// The value with empty lists where they are missing.
    package func completing(_ value: JSONValue) -> JSONValue {
        switch (self, value) {
        case (.array(let element), .array(let elements)): return .array(elements.map(element.completing))
        case (.map(let element), .object(let members)): return .object(members.mapValues(element.completing))
        case (.object(let object), .object(var members)):
            for property in object.properties {
                if let member = members[property.name] {
                    members[property.name] = property.schema.completing(member)
                } else if property.isRequired {
                    switch property.schema {
                    case .array: members[property.name] = []
                    case .map: members[property.name] = [:]
                    default: break
                    }
                }
            }
            return .object(members)
        default: return value
        }
    }
}
