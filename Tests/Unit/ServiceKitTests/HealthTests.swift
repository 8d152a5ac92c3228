import ServiceKit
import Testing

@Suite("Health")
struct HealthTests {
    @Test("ready when all parts are, with the reason of one that isn't")
    func ready() {
        let health = Health()
        #expect(health.report.isReady)
        let (database, bus) = (health.check("database"), health.check("bus"))
        #expect(!health.report.isReady)
        database.report(.ready)
        bus.report(.notReady("no lease yet"))
        #expect(health.report.conditions["bus"] == .notReady("no lease yet"))
        bus.report(.ready)
        #expect(health.report.isReady)
    }

    @Test("ready, with the reason, while a part is impaired")
    func impaired() {
        let health = Health()
        health.check("messages").report(.impaired("2 keys are parked"))
        #expect(health.report.isReady && health.report.isLive)
        #expect(health.report.conditions["messages"] == .impaired("2 keys are parked"))
    }

    @Test("whoever watches hears at once, and of every change until they stop")
    func watching() async {
        let health = Health()
        let check = health.check("database")
        let (changes, end) = health.watch()
        var seen: [Bool] = []
        for await _ in changes {
            seen.append(health.report.isReady)
            switch seen.count {
            case 1: check.report(.ready)
            case 2: check.report(.notReady("away"))
            default: end()
            }
        }
        #expect(seen == [false, true, false])
    }

    @Test("alive until a part says that only a restart helps")
    func live() {
        let health = Health()
        let check = health.check("disk")
        check.report(.notReady("full"))
        #expect(health.report.isLive)
        check.report(.dead("gone"))
        #expect(!health.report.isLive)
        #expect(!health.report.isReady)
    }
}
