import QuartetContractSupport
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Session: phones")
struct PhoneTests {
    @Test("a phone belongs to the account once its code was entered, and then finds only that account (S41)")
    func phoneChange() throws {
        var household = Household()
        let (anna, ben) = (try household.person("anna"), try household.person("ben"))
        let phone: PhoneID = household.id()
        let (ofAnna, ofBen) = (try household.confirmed(anna), try household.confirmed(ben))
        let (code, request) = try Phones.change(&household, phone: phone, by: ofAnna)
        let issued = try household.ask(anna, request)
        let event = try issued.first(as: PhoneCodeIssued.self)
        #expect(event.code == code && event.expires == household.time + .minutes(10) && event.purpose == .phoneChange)
        #expect(household.state(anna).phone == nil)
        let wrong = ChangePhone(code: code, proof: try Household.proof("654321"))
        let right = ChangePhone(code: code, proof: try Household.proof("123456"))
        let failed = try household.ask(anna, wrong).first(as: PhoneCodeFailed.self)
        #expect(failed.attemptsLeft == 4)
        #expect(try household.rejection(ben, right) == .invalidCode, "a code is its account's")
        #expect(
            try household.ask(anna, right) == [
                .phoneChanged(
                    .init(account: anna, phone: Phone(number: Phones.number, region: "DE"), at: household.time))
            ])
        #expect(household.state(anna).phone?.number == Phones.number && household.rows.owner(of: phone) == anna)
        #expect(try household.rejection(anna, right) == .invalidCode, "a code is good for one use")
        // Only the phone's owner learns that it has an account.
        let (code2, taken) = try Phones.change(&household, phone: phone, by: ofBen)
        try household.ask(ben, taken)
        let proof: [Proof] = try Household.proof("123456")
        #expect(try household.rejection(ben, ChangePhone(code: code2, proof: proof)) == .phoneTaken)
        try household.ask(anna, RemovePhone(by: ofAnna))
        #expect(household.state(anna).phone == nil && household.rows.owner(of: phone) == nil)
        #expect(try household.ask(anna, RemovePhone(by: ofAnna)).isEmpty)
        #expect(try household.rejection(ben, ChangePhone(code: code2, proof: proof)) == nil)
    }

    @Test("wrong digits count over all codes: the pause until the next grows, up to an hour (S41)")
    func guessingCodes() throws {
        var household = Household()
        let account = try household.person()
        household.rows.limits.confirmation = .days(30)
        household.rows.limits.phoneCodes = 1000
        let device = try household.confirmed(account)
        var pauses: [Int64] = []
        for _ in 0..<10 {
            let (code, request) = try Phones.change(&household, phone: household.id(), by: device)
            try household.ask(account, request)
            // Each further one after the fourth is blocked for a while.
            for _ in 0..<(pauses.isEmpty ? 5 : 1) {
                try household.ask(account, ChangePhone(code: code, proof: try Household.proof("000000")))
            }
            let (_, next) = try Phones.change(&household, phone: household.id(), by: device)
            do { try household.ask(account, next) } catch let rejection as Rejection {
                let pause = rejection.retryAfter ?? .seconds(0)
                pauses.append(pause.microseconds / 60_000_000)
                household.pass(pause)
            }
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60, 60])
    }

    @Test("of two accounts that prove the same new phone, the first gets it (S41)")
    func race() throws {
        var household = Household()
        let (anna, ben) = (try household.person("anna"), try household.person("ben"))
        let phone: PhoneID = household.id()
        let (ofAnna, ofBen) = (try household.confirmed(anna), try household.confirmed(ben))
        let (first, requestOfAnna) = try Phones.change(&household, phone: phone, by: ofAnna)
        let (second, requestOfBen) = try Phones.change(&household, phone: phone, by: ofBen)
        try household.ask(anna, requestOfAnna)
        try household.ask(ben, requestOfBen)
        let proof: [Proof] = try Household.proof("123456")
        try household.ask(ben, ChangePhone(code: second, proof: proof))
        #expect(try household.rejection(anna, ChangePhone(code: first, proof: proof)) == .phoneTaken)
    }

    @Test("a sign-in code has five tries, ten minutes and one use, and nobody learns which numbers are known (S41)")
    func phoneSignIn() throws {
        var household = Household()
        let account = try household.person()
        let phone: PhoneID = household.id()
        try Phones.phone(of: account, phone, in: &household)
        func request(_ phone: PhoneID, _ household: inout Household) throws -> (PhoneCodeID, any CommandBody) {
            try Phones.signInCode(for: phone, &household)
        }
        func signIn(_ code: PhoneCodeID, _ digits: String, _ household: inout Household) throws -> any CommandBody {
            try Phones.signIn(by: phone, code, digits, &household)
        }
        let (_, unknown) = try request(household.id(), &household)
        #expect(try household.ask(nil, unknown).isEmpty)
        let (code, asked) = try request(phone, &household)
        try household.ask(nil, asked)
        for left in (0..<5).reversed() {
            let events = try household.ask(nil, try signIn(code, "222222", &household))
            #expect(
                events == [
                    .phoneCodeFailed(.init(account: account, code: code, attemptsLeft: left, at: household.time))
                ])
        }
        #expect(try household.rejection(nil, try signIn(code, "111111", &household)) == .tooManyAttempts, "too late")

        // Another one, a moment later.
        let (second, again) = try request(phone, &household)
        #expect(try household.rejection(nil, again) == .tooManyAttempts)
        household.pass(.minutes(1))
        try household.ask(nil, again)
        #expect(try household.ask(nil, try signIn(code, "111111", &household)).isEmpty, "void, which is counted")
        household.pass(.minutes(10))
        #expect(try household.ask(nil, try signIn(second, "111111", &household)).isEmpty, "expired")
        household.pass(.minutes(10))
        let (third, asked3) = try request(phone, &household)
        try household.ask(nil, asked3)
        let events = try household.ask(nil, try signIn(third, "111111", &household))
        let event = try events.first(as: DeviceSignedIn.self)
        #expect(event.account == account && household.state(account).devices.count == 2)
        #expect(try household.ask(nil, try signIn(third, "111111", &household)).isEmpty, "used")
    }

    @Test("a stranger's codes and wrong digits neither void nor block those of the phone's owner (S41)")
    func strangersCodes() throws {
        var household = Household()
        let account = try household.person()
        let phone: PhoneID = household.id()
        try Phones.phone(of: account, phone, in: &household)
        let stranger = Household.source(666)
        let (own, asked) = try Phones.signInCode(for: phone, &household)
        try household.ask(nil, asked)
        let (strange, askedByStranger) = try Phones.signInCode(for: phone, from: stranger, &household)
        try household.ask(nil, askedByStranger)
        for _ in 0..<5 {
            try household.ask(nil, try Phones.signIn(by: phone, strange, "222222", from: stranger, &household))
        }
        let (_, more) = try Phones.signInCode(for: phone, from: stranger, &household)
        #expect(try household.rejection(nil, more) == .tooManyAttempts)
        // The digits may come from elsewhere than the request for them.
        let events = try household.ask(
            nil, try Phones.signIn(by: phone, own, "111111", from: Household.source(2), &household))
        _ = try events.first(as: DeviceSignedIn.self)
        household.pass(.seconds(30))
        let (_, next) = try Phones.signInCode(for: phone, &household)
        #expect(try household.rejection(nil, next) == nil)
    }

    @Test("codes to one phone are few, wherever they are requested; a known device has its own share (S41)")
    func codesFromEverywhere() throws {
        var household = Household()
        let account = try household.person()
        let phone: PhoneID = household.id()
        try Phones.phone(of: account, phone, in: &household)
        for number in 1...20 {
            let (_, request) = try Phones.signInCode(for: phone, from: Household.source(UInt64(number)), &household)
            try household.ask(nil, request)
        }
        let (_, refused) = try Phones.signInCode(for: phone, from: Household.source(21), &household)
        #expect(try household.rejection(nil, refused) == .tooManyAttempts)
        let device = try #require(household.state(account).devices.first?.id)
        let known = KnownDevice(device: device, token: try Household.secret("t\(device)"))
        let (code, request) = try Phones.signInCode(for: phone, from: Household.source(21), known: known, &household)
        try household.ask(nil, request)
        let events = try household.ask(
            nil, try Phones.signIn(by: phone, code, "111111", from: Household.source(21), known: known, &household))
        _ = try events.first(as: DeviceSignedIn.self)
    }

    @Test("a phone that signs nobody in is refused whenever a known one would be (S41)")
    func unknownPhone() throws {
        var household = Household()
        let account = try household.person()
        let phone: PhoneID = household.id()
        try Phones.phone(of: account, phone, in: &household)
        func answers(_ phone: PhoneID) throws -> [String] {
            var answers: [String] = []
            for number in 0..<40 {
                let source = Household.source(UInt64(number / 8))
                let (code, request) = try Phones.signInCode(for: phone, from: source, &household)
                for command in [request]
                    + (try (0..<3).map { _ in
                        try Phones.signIn(by: phone, code, "222222", from: source, &household)
                    })
                {
                    do {
                        try household.ask(nil, command)
                        answers.append("taken")
                    } catch let rejection as Rejection {
                        answers.append("\(rejection.code) \(rejection.message) \(rejection.retryAfter as Any)")
                    }
                }
                household.pass(.seconds(31))
            }
            return answers
        }
        let known = try answers(phone)
        household.pass(.days(1))
        #expect(try answers(household.id()) == known)
        #expect(Set(known).count > 3)
    }

    @Test("an account gets five codes an hour, then hears how long to wait (S41)")
    func codesPerHour() throws {
        var household = Household()
        let account = try household.person()
        for _ in 0..<5 {
            let device = try household.confirmed(account)
            let (_, request) = try Phones.change(&household, phone: household.id(), by: device)
            try household.ask(account, request)
            household.pass(.minutes(2))
        }
        let device = try household.confirmed(account)
        let (_, sixth) = try Phones.change(&household, phone: household.id(), by: device)
        do {
            try household.ask(account, sixth)
            throw Unexpected("a sixth code")
        } catch let rejection as Rejection {
            #expect(rejection.code == .tooManyAttempts && rejection.retryAfter == .minutes(50))
        }
        household.pass(.minutes(50))
        _ = try household.confirmed(account)
        #expect(try household.rejection(account, sixth) == nil)
    }

    @Test("codes for one new phone are few, however many accounts ask for them (S41)")
    func codesOfManyAccounts() throws {
        var household = Household()
        let phone: PhoneID = household.id()
        func ask(_ number: Int) throws -> Rejection.Code? {
            let account = try household.person("person\(number)")
            let device = try household.confirmed(account)
            let (_, request) = try Phones.change(&household, phone: phone, by: device)
            return try household.rejection(account, request)
        }
        for number in 1...20 { #expect(try ask(number) == nil) }
        #expect(try ask(21) == .tooManyAttempts)
        // Neither are those for signing in counted with them, nor those for another phone.
        let (_, signIn) = try Phones.signInCode(for: phone, &household)
        #expect(try household.rejection(nil, signIn) == nil)
        let other = try household.person("other")
        let device = try household.confirmed(other)
        let (_, request) = try Phones.change(&household, phone: household.id(), by: device)
        #expect(try household.rejection(other, request) == nil)
        household.pass(.hours(1))
        #expect(try ask(22) == nil)
    }

    @Test(
        """
        a phone that only a fresh sign-in confirmed goes with the password, and so do the code on its way and the \
        confirmation; one that the password confirmed stays (S41 S44)
        """)
    func phoneOfAThief() throws {
        var household = Household()
        let anna = try household.person()
        let own = try #require(household.state(anna).devices.first?.id)
        let digits: [Proof] = try Household.proof("123456")
        // A thief of the access token alone, minutes after the sign-up.
        household.pass(.minutes(1))
        let thiefs: PhoneID = household.id()
        let (code, request) = try Phones.change(&household, phone: thiefs, by: own)
        try household.ask(anna, request)
        var waiting = household
        try household.ask(anna, ChangePhone(code: code, proof: digits, by: own))
        #expect(household.state(anna).phone != nil)

        // The owner signs out everywhere, signs in again and changes the password.
        var away = household
        try away.ask(anna, SignOut(device: nil, by: own))
        away.pass(.hours(70))
        let back = try away.signIn()
        func change(_ household: inout Household, by device: DeviceID) throws -> [SessionEvent] {
            try household.ask(
                anna,
                ChangePassword(
                    verifier: try Household.proof("secret"), next: try Household.proof("another"), by: device))
        }
        let events = try change(&away, by: back)
        #expect(events.first == .passwordChanged(.init(account: anna, at: away.time)))
        #expect(events.contains(.phoneChanged(.init(account: anna, at: away.time))))
        #expect(away.state(anna).phone == nil && away.replicas[anna] == away.state(anna))
        let (_, signIn) = try Phones.signInCode(for: thiefs, &away)
        #expect(try away.ask(nil, signIn).isEmpty)

        // Or changes the password at once, on the device whose token was stolen, while the thief waits for the code.
        _ = try change(&waiting, by: own)
        #expect(try waiting.rejection(anna, ChangePhone(code: code, proof: digits, by: own)) == .invalidCode)
        waiting.pass(.seconds(31))
        let (_, another) = try Phones.change(&waiting, phone: thiefs, by: own)
        #expect(try waiting.rejection(anna, another) == .confirmationRequired)

        // Later, the password is needed, and then the phone stays.
        var careful = Household()
        let ben = try careful.person("ben")
        careful.pass(.hours(1))
        let device = try careful.confirmed(ben)
        let (proven, asked) = try Phones.change(&careful, phone: careful.id(), by: device)
        try careful.ask(ben, asked)
        try careful.ask(ben, ChangePhone(code: proven, proof: digits, by: device))
        try careful.ask(
            ben,
            ChangePassword(verifier: try Household.proof("secret"), next: try Household.proof("another"), by: device))
        #expect(careful.state(ben).phone != nil)
    }

    @Test("a phone that replaced another by a code alone can't sign in for a day, whatever is tried meanwhile (S41)")
    func restingPhone() throws {
        var household = Household()
        let account = try household.person()
        let (old, new): (PhoneID, PhoneID) = (household.id(), household.id())
        try Phones.phone(of: account, old, in: &household)
        household.pass(.minutes(6))
        // A thief who holds the old phone for a moment.
        let device = try Phones.signIn(by: old, &household)
        let (code, request) = try Phones.change(&household, phone: new, by: device)
        try household.ask(account, request)
        try household.ask(account, ChangePhone(code: code, proof: try Household.proof("123456")))
        household.pass(.minutes(1))
        func asking(_ phone: PhoneID) throws -> any CommandBody {
            RequestSignInCode(
                phone: phone, code: household.id(), proof: try Household.proof("1"), source: Household.source())
        }
        #expect(try household.ask(nil, asking(new)).isEmpty)
        let (_, another) = try Phones.change(&household, phone: household.id(), by: device)
        #expect(try household.rejection(account, another) == .tooSoon)
        household.pass(.days(1))
        #expect(try !household.ask(nil, asking(new)).isEmpty)
    }

    @Test("numbers are E.164 (S41)", arguments: ["+49 30 123456", "+1 (415) 555-2671", "+4930123456"])
    func numbers(text: String) throws {
        let number = try PhoneNumber(text)
        #expect(number.description.dropFirst().allSatisfy { $0.isNumber })
        #expect(try PhoneNumber(number.description) == number)
    }

    @Test(
        "anything that isn't a phone number is refused (S41)",
        arguments: [
            "", "+", "030123456", "+0301234567", "+49", "+49301234567890123", "+49 30 12a456", "٠٣٠١٢٣٤٥٦٧",
            "+٤٩٣٠١٢٣٤٥٦",
            "+4930123456\n", String(repeating: "+49", count: 40),
        ])
    func notNumbers(text: String) {
        #expect(throws: Rejection.self) { try PhoneNumber(text) }
    }
}
