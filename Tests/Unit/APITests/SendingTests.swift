import QuartetAPI
import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionContract
import QuartetVocabulary
import Testing

@Suite("How apps send commands")
struct SendingTests {
    @Test("no order key joins two precedences, of any two commands (S22)")
    func orderKeys() {
        let commands = Array(appCommands.values)
        for one in commands {
            for other in commands where one.sending.topic == other.sending.topic {
                #expect(one.sending.precedence == other.sending.precedence, "\(one) \(other)")
            }
        }
        // A key begins with its topic, and no topic with another and a slash.
        let contact = AccountID(high: 1, low: 2)
        #expect(SendPing(contact: contact).orderKey == "ping/\(contact)")
        #expect(SendPing(contact: contact).orderKey == CancelPing(contact: contact).orderKey)
        #expect(SendPing(contact: contact).orderKey != RespondToPing(contact: contact).orderKey)
        #expect(SendPing(contact: contact).orderKey != RemoveContact(contact: contact).orderKey)
        #expect(CheckIn().orderKey != RaiseAlert().orderKey && RaiseAlert().orderKey == ClearAlert().orderKey)
        #expect(!Sending.Topic.allCases.contains { $0.rawValue.contains("/") })
    }

    @Test("what came later than its request can be left out (S22)")
    func laterFields() throws {
        let all = appCommands.values.map { $0 as any MessageBody.Type } + appOperations.values.map { $0 }
        let grown = all.compactMap { $0 as? any GrownBody.Type }
        #expect(grown.count == 7)
        for type in grown {
            let properties = try Self.schema(of: type).objects.first?.properties ?? []
            let optional = properties.filter { !$0.isRequired }.map(\.name)
            #expect(!type.laterFields.isEmpty && type.laterFields.isSubset(of: optional), "\(type)")
        }
    }

    private static func schema(of type: (some MessageBody).Type) throws -> Schema { try Schema(of: type) }

    @Test("what apps send first is what the services handle first (S22)")
    func urgent() {
        for (name, command) in appCommands {
            #expect(command.isUrgent == (command.sending.precedence == .urgent), "\(name)")
        }
        let urgent = appCommands.filter { $0.value.isUrgent }.keys.sorted()
        #expect(
            urgent == [
                "AcknowledgeAlarm", "CheckIn", "ClearAlert", "EndTrip", "ExtendTrip", "RaiseAlert", "RespondToPing",
                "StartTrip",
            ])
    }

    @Test("a command takes the place of commands of its own topic alone, and a new alert never of a clearing (S22)")
    func superseding() {
        for (name, command) in appCommands {
            for other in command.sending.supersedes {
                #expect(appCommands[other]?.sending.topic == command.sending.topic, "\(name) \(other)")
            }
        }
        // Somebody who clears an alert and raises another wants the second to be told.
        #expect(!RaiseAlert.sending.supersedes.contains("ClearAlert"))
    }

    @Test("a check-in is worth sending for minutes, a ping for an hour, a call for help for a day (S22, S27)")
    func lifetimes() {
        #expect(CheckIn.sending.lifetime == .minutes(5) && RaiseAlert.sending.lifetime == .days(1))
        #expect(SendPing.sending.lifetime == .hours(1) && RespondToPing.sending.lifetime == .hours(1))
        for (name, command) in appCommands {
            #expect(
                command.sending.mayWait == (command.sending.topic != .group && name != RunDrillRequest.type), "\(name)")
            #expect(command.sending.lifetime <= .days(29), "\(name)")
        }
    }

    @Test(
        "what waits for its service isn't done after five minutes, but a reminder and its taking back for an hour (S22, S39)"
    )
    func validities() {
        let commands = appCommands.compactMapValues { $0 as? any CommandBody.Type }
        let others = commands.mapValues { $0.validity }.filter { $0.value != .minutes(5) }
        #expect(others == ["ScheduleReminder": .hours(1), "CancelReminder": .hours(1)])
    }
}
