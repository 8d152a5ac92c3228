import EdgeClient
import TestKit
import Testing

/// Who is on an alarm, over HTTP and in the rows that it leaves.
@Suite("End to end: answers to alarms", .timeLimit(.minutes(60)))
struct AnswerTests {
    @Test(
        """
        who is on it is seen by the others and by the person, whoever isn't a contact by their name; it holds back \
        repetitions, kills or not, until somebody says that help is needed (A2)
        """)
    func onIt() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            let (ben, cleo) = try await quartet.signUp("ben", "cleo")
            for responder in [ben, cleo] { try await responder.add(anna) }
            let alarm = try await anna.act("RaiseAlert")["alarm"]
            for responder in [ben, cleo] { try await responder.wait(toHear: "dependentAlertRaised") }
            let (annaSees, cleoSees) = (try await LiveView.open(anna), try await LiveView.open(cleo))
            let answer: JSON = ["contact": .string(anna.account), "alarm": alarm, "answer": "onIt", "minutes": 60]
            let key = EdgeClient.newKey()
            let said = try await ben.act("AcknowledgeAlarm", answer, key: key)
            #expect(said["answer"] == "onIt" && said["responder"].string == ben.account)
            for view in [annaSees, cleoSees] {
                let seen = try await view.wait("AlarmAcknowledged", in: "contacts").data["body"]
                #expect(seen["responder"].string == ben.account && seen["answer"] == "onIt")
            }
            // Ben and Cleo aren't contacts.
            try await cleoSees.wait("Ben's name") {
                $0.name == "person" && $0.data["account"].string == ben.account && $0.data["name"].string != nil
            }
            for told in [anna, cleo] { try await told.wait(toHear: "system") }
            let held = """
                SELECT t.due_at - a.alert_last_alarm_at > interval '50 minutes'
                  FROM session.account AS a
                  JOIN session.timer AS t ON t.name LIKE 'RepeatAlarm/%' AND right(t.key, 36) = a.account::text
                 WHERE a.account = '\(anna.account)'
                """
            try await quartet.wait(for: "the repetition to wait", held) { $0 == "t" }

            // The same press once more, after kills, is one answer.
            for service in [Quartet.Service.contacts, .session, .sessionClient] { try await quartet.restart(service) }
            try await ben.act("AcknowledgeAlarm", answer, key: key)
            let answers = "SELECT answers FROM contacts.alarm_recipient WHERE answer = 'onIt'"
            #expect(try await quartet.psql(answers) == "1")

            try await cleo.act(
                "AcknowledgeAlarm", ["contact": .string(anna.account), "alarm": alarm, "answer": "needsHelp"])
            try await quartet.wait(for: "the repetition to wait no longer", held) { $0 == "f" }
            try await quartet.waitUntilQuiet()
            let (bens, cleos) = (try await ben.kinds(), try await cleo.kinds())
            #expect(
                bens.count { $0 == "dependentAlertRaised" } == 2 && cleos.count { $0 == "dependentAlertRaised" } == 1)

            // No answer ended it; she does, and nothing is left of the answers.
            try await anna.act("ClearAlert")
            for responder in [ben, cleo] { try await responder.wait(toHear: "dependentAlertCleared") }
            for person in [anna, ben, cleo] {
                let state = try await LiveView.open(person).snapshot(of: "contacts")
                #expect(state["alarmAnswers"] == .null && !state["contacts"].array.isEmpty)
            }
            let late = try await ben.ask("AcknowledgeAlarm", answer)
            #expect(late.status == 404 && late.body["field"] == "alarm", "\(late)")
        }
    }

    @Test(
        "who is on it is asked before their time ends, kills or not, and nobody else; an answer and the end take it back (A2)"
    )
    func renewal() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            let (ben, cleo) = try await quartet.signUp("ben", "cleo")
            for responder in [ben, cleo] { try await responder.add(anna) }
            let alarm = try await anna.act("RaiseAlert")["alarm"]
            for responder in [ben, cleo] { try await responder.wait(toHear: "dependentAlertRaised") }
            let answer: JSON = ["contact": .string(anna.account), "alarm": alarm, "answer": "onIt", "minutes": 30]
            try await ben.act("AcknowledgeAlarm", answer)
            let due = """
                SELECT t.due_at = r.on_it_until - interval '5 minutes'
                  FROM contacts.timer AS t JOIN contacts.alarm_recipient AS r ON 'account/' || r.account = t.key
                 WHERE t.name LIKE 'AskForRenewal%' AND r.on_it_until IS NOT NULL
                """
            #expect(try await quartet.psql(due) == "t")
            for service in [Quartet.Service.contacts, .sessionClient] { try await quartet.restart(service) }
            try await quartet.passOnIt(minutes: 26, for: anna)
            let question = try await ben.questions(1)[0]
            let until = try #require(question["details"]["onItUntil"].int)
            #expect(question["kind"] == "system" && question["subject"].string == anna.account)
            let microseconds =
                "SELECT contacts.microseconds(on_it_until) FROM contacts.alarm_recipient WHERE answer = 'onIt'"
            #expect(try await quartet.psql(microseconds) == "\(until)")

            try await ben.act("AcknowledgeAlarm", answer)
            _ = try await ben.questions(0)
            try await quartet.passOnIt(minutes: 26, for: anna)
            let again = try await ben.questions(1)[0]
            #expect(again["id"] != question["id"])
            try await anna.act("ClearAlert")
            _ = try await ben.questions(0)
            try await quartet.waitUntilQuiet()
            _ = try await cleo.questions(0)
            #expect(
                try await quartet.psql("SELECT count(*) FROM contacts.timer WHERE name LIKE 'AskForRenewal%'") == "0")
        }
    }

    @Test("who wasn't told of an alarm can neither answer it nor see who did (A2)")
    func strangers() async throws {
        try await Quartet.with { quartet in
            let (anna, ben, eve) = try await quartet.signUp("anna", "ben", "eve")
            try await ben.add(anna)
            try await eve.add(anna, isMyResponder: true, iAmResponder: false)
            let alarm = try await anna.act("RaiseAlert")["alarm"]
            try await ben.wait(toHear: "dependentAlertRaised")
            func answer(_ fields: [String: JSON] = [:]) -> JSON {
                .object(
                    ["contact": .string(anna.account), "alarm": alarm, "answer": "safe"].merging(fields) { $1 })
            }
            let refused = try await eve.ask("AcknowledgeAlarm", answer())
            #expect(refused.status == 404, "\(refused)")
            try await ben.act("AcknowledgeAlarm", answer())
            try await quartet.waitUntilQuiet()
            let sees = try await LiveView.open(eve)
            #expect(try await sees.snapshot(of: "contacts")["alarmAnswers"] == .null)
            #expect(!sees.all.contains { $0.data["account"].string == ben.account })
            for (field, wrong): (String, JSON) in [
                ("minutes", 30), ("answer", "maybe"), ("alarm", "no id"), ("pressed", "today"),
            ] {
                let refused = try await ben.ask("AcknowledgeAlarm", answer([field: wrong]))
                #expect((400...422).contains(refused.status) && refused.body["field"].string == field, "\(refused)")
            }
        }
    }
}

extension Device {
    /// Waits until so many questions whether one is still on it are unread; returns them.
    fileprivate func questions(_ count: Int) async throws -> [JSON] {
        for _ in 0..<6000 {
            let unread = try await read("/v1/notifications?limit=200&unread=true")["notifications"].array
            let questions = unread.filter { $0["details"]["onItUntil"].int != nil }
            if questions.count == count { return questions }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw TimedOut("waited two minutes for \(count) unread questions")
    }
}
