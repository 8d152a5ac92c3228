import Foundation
import QuartetAPI
import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionContract
import QuartetVocabulary

/// The data of the stream's events, by the events' names.
enum StreamSchemas {
    /// Those that are objects of one type, or of one type each.
    static var all: [String: Schema] {
        get throws {
            var schemas: [String: Schema] = [
                "begun": try Schema(of: StreamBegun.self), "end": try Schema(of: StreamEnd.self),
                "groups": try Schema(of: GroupsPage.self), "person": try Schema(of: Person.self),
                "person.ended": try Schema(of: PersonEnded.self), "group.ended": try Schema(of: GroupStreamEnded.self),
                "heartbeat": .object(Schema.Object(name: "Heartbeat")),
                "signal": .object(
                    Schema.Object(
                        name: "Signal",
                        [
                            Schema.Property("group", GroupID.schema), Schema.Property("account", AccountID.schema),
                            Schema.Property("to", .array(of: AccountID.schema), isRequired: false),
                            Schema.Property("topic", .string()), Schema.Property("data", .any, isRequired: false),
                            Schema.Property("at", Instant.schema),
                        ])),
            ]
            let sequences: [(name: String, state: Schema, events: [any MessageBody.Type])] = [
                ("account", try Schema(of: AccountState.self), SessionEvent.types),
                ("contacts", try Schema(of: ContactsState.self), ContactsEvent.types),
                ("notifications", try Schema(of: NotificationsState.self), NotificationsEvent.types),
                ("operations", try Schema(of: OperationsPage.self), [OperationStarted.self, OperationEnded.self]),
                ("group", try Schema(of: GroupState.self), SessionEvent.types + [MessageWithheld.self]),
            ]
            for sequence in sequences {
                let group = sequence.name == "group" ? [Schema.Property("group", GroupID.schema)] : []
                let hash = group.isEmpty ? [] : [Schema.Property("hash", .string(), isRequired: false)]
                let name = sequence.name.capitalized
                schemas["\(sequence.name).snapshot"] = .object(
                    Schema.Object(
                        name: "\(name)Snapshot",
                        group + hash + [
                            Schema.Property("refetched", .boolean), Schema.Property("state", sequence.state),
                        ]))
                schemas["\(sequence.name).resumed"] = .object(Schema.Object(name: "\(name)Resumed", group))
                schemas["\(sequence.name).event"] = .object(
                    Schema.Object(
                        name: "\(name)Event",
                        group + hash + [
                            Schema.Property("type", .words(sequence.events.map { $0.type })),
                            Schema.Property("version", .integer()), Schema.Property("at", Instant.schema),
                            Schema.Property("correlation", .any), Schema.Property("command", .any),
                            Schema.Property("body", .anyOf(try sequence.events.map { try Schema(of: $0) })),
                        ]))
            }
            return schemas
        }
    }

    /// By the events' names, where they are described.
    static var references: [String: JSONValue] { get throws { try all.mapValues(\.document) } }
}
