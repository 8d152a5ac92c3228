import AsyncHTTPClient
import EdgeClient
import Foundation

// Plays the story against a running system through its public HTTP API, and tells what each person sees.

let help = """
    Usage: demo [URL [CERTIFICATE]]

    Two people sign up; Anna adds Bob by his code and pings him; Bob clears all received pings; then he misses a
    check-in, Anna is notified, says that she is on it and has reached him, and gets the all-clear. In the end they play four in a row. Prints what each of them
    sees, as it happens. URL is that of the HTTP API (http://127.0.0.1:8080),
    CERTIFICATE a file with the one to trust.
    """
let arguments = CommandLine.arguments.dropFirst()
if arguments.contains(where: ["--help", "-h", "help"].contains) {
    print(help)
    exit(0)
}
guard arguments.count <= 2 else {
    FileHandle.standardError.write(Data((help + "\n").utf8))
    exit(64)
}
let url = arguments.first ?? "http://127.0.0.1:8080"

let edge = EdgeClient(http: EdgeClient.connections(trusting: arguments.dropFirst().first)) { url }
let narrator = Narrator()

/// How long something took.
func timed<Value>(_ body: () async throws -> Value) async throws -> (Value, Duration) {
    let start = ContinuousClock.now
    let value = try await body()
    return (value, .now - start)
}

do {
    let suffix = String(UInt32.random(in: 0...UInt32.max), radix: 36)
    narrator.say("Quartet's story, played through \(url)/v1 only.")

    narrator.chapter("Two people sign up.")
    let (anna, annaTook) = try await timed { try await Device.signUp("anna-\(suffix)", name: "Anna", at: edge) }
    narrator.introduce(anna.account, as: "Anna")
    narrator.does("Anna", "signs up as @anna-\(suffix)", took: annaTook)
    let (bob, bobTook) = try await timed { try await Device.signUp("bob-\(suffix)", name: "Bob", at: edge) }
    narrator.introduce(bob.account, as: "Bob")
    narrator.does("Bob", "signs up as @bob-\(suffix)", took: bobTook)

    let annaSees = Viewer(name: "Anna", narrator: narrator)
    let bobSees = Viewer(name: "Bob", narrator: narrator)
    let annaStream = try await edge.stream(token: anna.token)
    let bobStream = try await edge.stream(token: bob.token)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await annaSees.watch(annaStream) }
        group.addTask { try await bobSees.watch(bobStream) }
        for viewer in [annaSees, bobSees] {
            try await viewer.expect("contacts.snapshot", "notifications.snapshot", "account.snapshot")
        }

        narrator.chapter("Anna adds Bob by the code that he shows her.")
        let code = try await bob.read("/v1/contacts")["code"]
        let owner = try await anna.read("/v1/contact-codes/\(code.string ?? "")")
        narrator.does("Anna", "looks the code up: it is \(owner["name"].string ?? "") @\(owner["handle"].string ?? "")")
        let (_, addTook) = try await timed { try await anna.act("AddContact", ["code": code, "iAmResponder": true]) }
        narrator.does("Anna", "adds Bob as her dependent", took: addTook)
        try await annaSees.expect("ContactAdded", "notification contactAdded", "person")
        try await bobSees.expect("ContactAdded", "notification contactAdded", "person")

        narrator.chapter("Anna asks Bob whether he is all right.")
        let (_, pingTook) = try await timed { try await anna.act("SendPing", ["contact": .string(bob.account)]) }
        narrator.does("Anna", "pings Bob", took: pingTook)
        try await bobSees.expect("PingReceived", "notification pingReceived")
        try await annaSees.expect("PingSent", "notification pingSent")

        narrator.chapter("Bob wants to look after Anna, too. Nobody sees her check-ins unless she agrees.")
        let (_, askTook) = try await timed {
            try await bob.act("RequestRoleChange", ["contact": .string(anna.account)])
        }
        narrator.does("Bob", "asks to become Anna's responder", took: askTook)
        try await annaSees.expect("RoleChangeRequested", "notification roleChangeRequested")
        let (_, agreeTook) = try await timed {
            try await anna.act("AcceptRoleChange", ["contact": .string(bob.account)])
        }
        narrator.does("Anna", "agrees", took: agreeTook)
        try await bobSees.expect("ContactUpdated", "notification roleChangeAccepted", "person")

        narrator.chapter("Bob answers everything that waits, and checks in.")
        let (operation, clearTook) = try await timed {
            try await bob.operate("ClearAllReceivedPings", ["checkIn": true])
        }
        narrator.does("Bob", "clears all received pings: \(operation["state"].string ?? "")", took: clearTook)
        try await bobSees.expect(
            "ReceivedPingsCleared", "NotificationsCleared", "notification pingsCleared", "CheckedIn", "OperationEnded")
        try await annaSees.expect(
            "PingAnswered", "notification pingAnswered", "notification dependentCheckedIn", "person")

        narrator.chapter("Bob tests whether an alarm would reach Anna.")
        let (_, drillTook) = try await timed { try await bob.act("RunDrill") }
        narrator.does("Bob", "runs a drill", took: drillTook)
        try await annaSees.expect("notification system")
        let told = try await anna.read("/v1/notifications")["notifications"].array
        let drill = told.first { $0["details"]["drillEnds"].int != nil }
        try await anna.act("AnswerDrill", ["id": drill?["id"] ?? .null])
        narrator.does("Anna", "says that she got it")
        try await annaSees.expect("DrillAnswered")
        let receipts = try await bob.read("/v1/drill")["responders"].array
        narrator.does("Bob", receipts.first?["answered"].int == nil ? "sees no answer yet" : "sees that she did")

        narrator.chapter("Bob doesn't check in in time.")
        let seconds: Int64 = 5
        let chosen = try await bob.ask("SetCheckInInterval", ["interval": .int(seconds * 1_000_000)])
        if chosen.isSuccess {
            narrator.does("Bob", "chooses to check in every \(seconds) seconds, and forgets it")
            try await bobSees.expect("CheckInMissed", "notification checkInMissed")
            try await annaSees.expect("notification dependentCheckInMissed")
            narrator.say("The drill is over, too: nobody is to take the alarm for it.")
            let missed = try await anna.read("/v1/notifications")["notifications"].array.first {
                $0["kind"].string == "dependentCheckInMissed"
            }
            if let deadline = missed?["details"]["deadline"].int, let created = missed?["created"].int {
                narrator.does("Anna", "was notified \(Double(created - deadline) / 1000) ms after the deadline")
            }
            let alarm = missed?["details"]["alarm"] ?? .null
            func answer(_ answer: String) async throws {
                _ = try await anna.act(
                    "AcknowledgeAlarm",
                    ["contact": .string(bob.account), "alarm": alarm, "answer": .string(answer)])
            }
            let (_, onItTook) = try await timed { try await answer("onIt") }
            narrator.does("Anna", "says that she is on it", took: onItTook)
            try await bobSees.expect("AlarmAcknowledged")
            try await answer("safe")
            narrator.does("Anna", "has reached him: he is safe. Only Bob can give the all-clear")
            try await bobSees.expect("AlarmAcknowledged")
            let (_, lateTook) = try await timed { try await bob.act("CheckIn") }
            narrator.does("Bob", "checks in after all", took: lateTook)
            try await annaSees.expect("notification dependentCheckedInLate")
            try await bob.act("SetCheckInInterval", ["interval": .int(86_400_000_000)])
        } else {
            let reason = chosen.body["detail"].string ?? ""
            narrator.say(
                "The server refuses short intervals: \(reason) To see the rest, start it with LEAST_CHECK_IN_INTERVAL=5s make run."
            )
        }

        narrator.chapter("Anna and Bob play four in a row. In mid-game Bob's connection drops.")
        try await SecondAct(anna: anna, bob: bob, narrator: narrator).play()

        narrator.chapter("In the end:")
        for (name, device) in [("Anna", anna), ("Bob", bob)] {
            let contacts = try await device.read("/v1/contacts")["contacts"]
            let unread = try await device.read("/v1/notifications")["unread"]
            let pings = contacts.array.filter {
                $0["contact"]["incomingPing"] != .null || $0["contact"]["outgoingPing"] != .null
            }
            narrator.does(
                name,
                "has \(contacts.array.count) contact, \(pings.count) pings open, \(unread.int ?? 0) unread notifications"
            )
        }
        _ = try await edge.insist("/v1/sign-out", [:], token: anna.token)
        narrator.does("Anna", "signs out")
        _ = try await edge.insist("/v1/sign-out", [:], token: bob.token)
        narrator.does("Bob", "signs out")
        try await group.waitForAll()
    }
    narrator.say(
        "\nEvery line came over HTTP and server-sent events. Look behind it: make psql, then :last_story, or :told")
} catch {
    FileHandle.standardError.write(Data("demo: \(error)\nIs Quartet running at \(url)? Start it: make run\n".utf8))
    exit(1)
}
