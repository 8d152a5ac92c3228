import ContractSupport
import SessionContract
import SessionRules
import TestKit
import Testing
import Vocabulary

@Suite("Session: phones, confirmations, pictures")
struct SecurityTests {
    private static let number = "+4930123456"

    // MARK: Phones

    /// A code for a phone change, as the edge would ask for it. The digits' proof is what `digits` makes.
    private static func change(
        _ household: inout Household, phone: PhoneID, number: String = number, digits: String = "123456",
        by device: DeviceID? = nil
    ) throws -> (PhoneCodeID, any CommandBody) {
        let code: PhoneCodeID = household.id()
        return (
            code,
            RequestPhoneChange(
                phone: Phone(number: number, region: "DE"), phoneID: phone, code: code,
                proof: try Household.proof(digits), by: device)
        )
    }

    /// Gives an account a phone.
    private static func phone(
        of account: AccountID, _ phone: PhoneID, in household: inout Household
    ) throws {
        let device = try household.confirmed(account)
        let (code, request) = try change(&household, phone: phone, by: device)
        try household.ask(account, request)
        try household.ask(account, ChangePhone(code: code, proof: try Household.proof("123456")))
    }

    @Test("S41: a phone is the account's once its code was given, and is found then, by whom nobody else is")
    func phoneChange() throws {
        var household = Household()
        let (anna, ben) = (try household.person("anna"), try household.person("ben"))
        let phone: PhoneID = household.id()
        let (ofAnna, ofBen) = (try household.confirmed(anna), try household.confirmed(ben))
        let (code, request) = try Self.change(&household, phone: phone, by: ofAnna)
        let issued = try household.ask(anna, request)
        guard case .phoneCodeIssued(let event) = issued[0] else { throw Unexpected(issued) }
        #expect(event.code == code && event.expires == household.time + .minutes(10) && event.purpose == .phoneChange)
        #expect(household.state(anna).phone == nil)
        let wrong = ChangePhone(code: code, proof: try Household.proof("654321"))
        let right = ChangePhone(code: code, proof: try Household.proof("123456"))
        guard case .phoneCodeFailed(let failed) = try household.ask(anna, wrong)[0] else { throw Unexpected("no") }
        #expect(failed.attemptsLeft == 4)
        #expect(try household.rejection(ben, right) == .invalidCode, "a code is its account's")
        #expect(
            try household.ask(anna, right) == [
                .phoneChanged(
                    .init(account: anna, phone: Phone(number: Self.number, region: "DE"), at: household.time))
            ])
        #expect(household.state(anna).phone?.number == Self.number && household.rows.owner(of: phone) == anna)
        #expect(try household.rejection(anna, right) == .invalidCode, "a code is good for one use")
        // That it is somebody's is told to nobody but who has it.
        let (code2, taken) = try Self.change(&household, phone: phone, by: ofBen)
        try household.ask(ben, taken)
        let proof: [Proof] = try Household.proof("123456")
        #expect(try household.rejection(ben, ChangePhone(code: code2, proof: proof)) == .phoneTaken)
        try household.ask(anna, RemovePhone(by: ofAnna))
        #expect(household.state(anna).phone == nil && household.rows.owner(of: phone) == nil)
        #expect(try household.ask(anna, RemovePhone(by: ofAnna)).isEmpty)
        #expect(try household.rejection(ben, ChangePhone(code: code2, proof: proof)) == nil)
    }

    @Test("S41: wrong digits count over all codes: the pause until the next one grows, up to an hour")
    func guessingCodes() throws {
        var household = Household()
        let account = try household.person()
        household.rows.limits.confirmation = .days(30)
        household.rows.limits.phoneCodes = 1000
        let device = try household.confirmed(account)
        var pauses: [Int64] = []
        for _ in 0..<10 {
            let (code, request) = try Self.change(&household, phone: household.id(), by: device)
            try household.ask(account, request)
            // Each further one after the fourth is blocked for a while.
            for _ in 0..<(pauses.isEmpty ? 5 : 1) {
                try household.ask(account, ChangePhone(code: code, proof: try Household.proof("000000")))
            }
            let (_, next) = try Self.change(&household, phone: household.id(), by: device)
            do { try household.ask(account, next) } catch let rejection as Rejection {
                let pause = rejection.retryAfter ?? .seconds(0)
                pauses.append(pause.microseconds / 60_000_000)
                household.pass(pause)
            }
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60, 60])
    }

    @Test("S48: a stranger's wrong passwords don't keep the person from confirming; their own do")
    func guessesByDevice() throws {
        var household = Household()
        let account = try household.person()
        let phone = try household.signIn()
        let wrong: [Proof] = try Household.proof("x")
        for _ in 0..<5 {
            try household.ask(
                nil,
                SignIn(handle: "anna", verifier: wrong, device: try household.device(), source: Household.source()))
        }
        let right: [Proof] = try Household.proof("secret")
        let confirm = ConfirmIdentity(verifier: right, device: phone)
        #expect(try household.rejection(account, confirm) == nil)
        for _ in 0..<5 { try household.ask(account, ConfirmIdentity(verifier: wrong, device: phone)) }
        #expect(try household.rejection(account, confirm) == .tooManyAttempts)
    }

    @Test("S41: of two who prove the same new phone, the first gets it")
    func race() throws {
        var household = Household()
        let (anna, ben) = (try household.person("anna"), try household.person("ben"))
        let phone: PhoneID = household.id()
        let (ofAnna, ofBen) = (try household.confirmed(anna), try household.confirmed(ben))
        let (first, requestOfAnna) = try Self.change(&household, phone: phone, by: ofAnna)
        let (second, requestOfBen) = try Self.change(&household, phone: phone, by: ofBen)
        try household.ask(anna, requestOfAnna)
        try household.ask(ben, requestOfBen)
        let proof: [Proof] = try Household.proof("123456")
        try household.ask(ben, ChangePhone(code: second, proof: proof))
        #expect(try household.rejection(anna, ChangePhone(code: first, proof: proof)) == .phoneTaken)
    }

    @Test("S41: signing in by phone: five tries, ten minutes, one use, and nobody learns which numbers sign in")
    func phoneSignIn() throws {
        var household = Household()
        let account = try household.person()
        let phone: PhoneID = household.id()
        try Self.phone(of: account, phone, in: &household)
        func request(_ phone: PhoneID, _ household: inout Household) throws -> (PhoneCodeID, any CommandBody) {
            try Self.signInCode(for: phone, &household)
        }
        func signIn(_ code: PhoneCodeID, _ digits: String, _ household: inout Household) throws -> any CommandBody {
            try Self.signIn(by: phone, code, digits, &household)
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
        guard case .deviceSignedIn(let event) = events[0] else { throw Unexpected(events) }
        #expect(event.account == account && household.state(account).devices.count == 2)
        #expect(try household.ask(nil, try signIn(third, "111111", &household)).isEmpty, "used")
    }

    private static func signInCode(
        for phone: PhoneID, from source: SourceID = Household.source(), known: KnownDevice? = nil,
        _ household: inout Household
    ) throws -> (PhoneCodeID, any CommandBody) {
        let code: PhoneCodeID = household.id()
        let proof: Proof = try Household.proof("111111")
        return (
            code, RequestSignInCode(phone: phone, code: code, proof: proof, source: source, known: known)
        )
    }

    private static func signIn(
        by phone: PhoneID, _ code: PhoneCodeID, _ digits: String, from source: SourceID = Household.source(),
        known: KnownDevice? = nil, _ household: inout Household
    ) throws -> any CommandBody {
        SignInByPhone(
            phone: phone, code: code, proof: try Household.proof(digits), device: try household.device("new"),
            source: source, known: known)
    }

    @Test("a stranger's codes and wrong digits neither void nor stop those of the phone's person (S41)")
    func strangersCodes() throws {
        var household = Household()
        let account = try household.person()
        let phone: PhoneID = household.id()
        try Self.phone(of: account, phone, in: &household)
        let stranger = Household.source(666)
        let (own, asked) = try Self.signInCode(for: phone, &household)
        try household.ask(nil, asked)
        let (strange, askedByStranger) = try Self.signInCode(for: phone, from: stranger, &household)
        try household.ask(nil, askedByStranger)
        for _ in 0..<5 {
            try household.ask(nil, try Self.signIn(by: phone, strange, "222222", from: stranger, &household))
        }
        let (_, more) = try Self.signInCode(for: phone, from: stranger, &household)
        #expect(try household.rejection(nil, more) == .tooManyAttempts)
        // The digits may come from elsewhere than the request for them.
        let events = try household.ask(
            nil, try Self.signIn(by: phone, own, "111111", from: Household.source(2), &household))
        guard case .deviceSignedIn = events[0] else { throw Unexpected(events) }
        household.pass(.seconds(30))
        let (_, next) = try Self.signInCode(for: phone, &household)
        #expect(try household.rejection(nil, next) == nil)
    }

    @Test(
        "codes to one phone are few, wherever they are asked for; a device that was signed in before gets its own (S41)"
    )
    func codesFromEverywhere() throws {
        var household = Household()
        let account = try household.person()
        let phone: PhoneID = household.id()
        try Self.phone(of: account, phone, in: &household)
        for number in 1...20 {
            let (_, request) = try Self.signInCode(for: phone, from: Household.source(UInt64(number)), &household)
            try household.ask(nil, request)
        }
        let (_, refused) = try Self.signInCode(for: phone, from: Household.source(21), &household)
        #expect(try household.rejection(nil, refused) == .tooManyAttempts)
        let device = try #require(household.state(account).devices.first?.id)
        let known = KnownDevice(device: device, token: try Household.secret("t\(device)"))
        let (code, request) = try Self.signInCode(for: phone, from: Household.source(21), known: known, &household)
        try household.ask(nil, request)
        let events = try household.ask(
            nil, try Self.signIn(by: phone, code, "111111", from: Household.source(21), known: known, &household))
        guard case .deviceSignedIn = events[0] else { throw Unexpected(events) }
    }

    @Test("a phone with which nobody signs in is refused when a known one would be (S41)")
    func unknownPhone() throws {
        var household = Household()
        let account = try household.person()
        let phone: PhoneID = household.id()
        try Self.phone(of: account, phone, in: &household)
        func answers(_ phone: PhoneID) throws -> [String] {
            var answers: [String] = []
            for number in 0..<40 {
                let source = Household.source(UInt64(number / 8))
                let (code, request) = try Self.signInCode(for: phone, from: source, &household)
                for command in [request]
                    + (try (0..<3).map { _ in
                        try Self.signIn(by: phone, code, "222222", from: source, &household)
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

    @Test("S41: codes are counted: five an hour, and whoever asks for more is told how long to wait")
    func codesPerHour() throws {
        var household = Household()
        let account = try household.person()
        for _ in 0..<5 {
            let device = try household.confirmed(account)
            let (_, request) = try Self.change(&household, phone: household.id(), by: device)
            try household.ask(account, request)
            household.pass(.minutes(2))
        }
        let device = try household.confirmed(account)
        let (_, sixth) = try Self.change(&household, phone: household.id(), by: device)
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

    @Test(
        "S41: numbers are E.164", arguments: ["+49 30 123456", "+1 (415) 555-2671", "+4930123456"])
    func numbers(text: String) throws {
        let number = try PhoneNumber(text)
        #expect(number.description.dropFirst().allSatisfy { $0.isNumber })
        #expect(try PhoneNumber(number.description) == number)
    }

    @Test(
        "S41: what is no number is refused",
        arguments: [
            "", "+", "030123456", "+0301234567", "+49", "+49301234567890123", "+49 30 12a456", "٠٣٠١٢٣٤٥٦٧",
            "+٤٩٣٠١٢٣٤٥٦",
            "+4930123456\n", String(repeating: "+49", count: 40),
        ])
    func notNumbers(text: String) {
        #expect(throws: Rejection.self) { try PhoneNumber(text) }
    }

    // MARK: Confirmation

    /// What could take an account away from its person.
    private static func sensitive(_ device: DeviceID?, _ household: inout Household) throws -> [any CommandBody] {
        [
            UpdateSecurity(isSingleDevice: true, by: device),
            try change(&household, phone: household.id(), by: device).1, RemovePhone(by: device),
            CloseAccount(by: device),
        ]
    }

    @Test("what could take the account away needs the password a few minutes ago, on the same device (S48)")
    func confirmation() throws {
        var household = Household()
        let account = try household.person()
        let (phone, tablet) = (try household.signIn(), try household.signIn())
        try Self.phone(of: account, household.id(), in: &household)
        household.pass(.minutes(6))
        for device in [phone, nil] {
            for command in try Self.sensitive(device, &household) {
                #expect(try household.rejection(account, command) == .confirmationRequired, "\(command)")
            }
        }
        #expect(
            try household.rejection(
                account, ResetPassword(next: try Household.proof("thief"), by: phone))
                == .confirmationRequired)
        let wrong = ConfirmIdentity(verifier: try Household.proof("x"), device: phone)
        guard case .signInFailed = try household.ask(account, wrong)[0] else {
            throw Unexpected("confirmed")
        }
        let right = ConfirmIdentity(verifier: try Household.proof("secret"), device: phone)
        #expect(
            try household.ask(account, right) == [
                .identityConfirmed(
                    .init(account: account, device: phone, until: household.time + .minutes(5), at: household.time))
            ])
        #expect(try household.rejection(account, RemovePhone(by: tablet)) == .confirmationRequired)
        household.pass(.minutes(5))
        #expect(try household.rejection(account, RemovePhone(by: phone)) == .confirmationRequired)
        try household.ask(account, right)
        household.pass(.minutes(4))
        for command in try Self.sensitive(phone, &household) {
            #expect(try household.rejection(account, command) == nil, "\(command)")
        }
    }

    @Test("where the account asks for it, signing other devices out needs a confirmation, too (S48)")
    func confirmationOfMore() throws {
        var household = Household()
        let account = try household.person()
        let (phone, tablet) = (try household.signIn(), try household.signIn())
        try household.ask(account, UpdateSecurity(isConfirmationRequired: true, by: phone))
        household.pass(.minutes(6))
        for command in [SignOut(device: tablet, by: phone), SignOut(by: phone)] {
            #expect(try household.rejection(account, command) == .confirmationRequired, "\(command)")
        }
        // What only ends one's own access needs none.
        #expect(try household.rejection(account, SignOut(device: tablet, by: tablet)) == nil)
    }

    @Test("who forgot the password signs in by a code and sets a new one; other devices are signed out (S41)")
    func forgottenPassword() throws {
        var household = Household()
        let account = try household.person()
        let thief = try household.signIn()
        let phone: PhoneID = household.id()
        try Self.phone(of: account, phone, in: &household)
        household.pass(.minutes(6))
        let device = try Self.signIn(by: phone, &household)
        try household.ask(account, ResetPassword(next: try Household.proof("new"), by: device))
        #expect(household.state(account).devices.map(\.id) == [device])
        #expect(household.rows[account, thief]?.reason == .passwordChanged)
        func signIn(_ password: String) throws -> [SessionEvent] {
            try household.ask(
                nil,
                SignIn(
                    handle: "anna", verifier: try Household.proof(password), device: try household.device(),
                    source: Household.source()))
        }
        guard case .signInFailed = try signIn("secret")[0] else { throw Unexpected("the old one is good") }
        guard case .deviceSignedIn = try signIn("new")[0] else { throw Unexpected("the new one is not") }
    }

    @Test("a phone that replaced another by a code alone can't sign in for a day, whatever is tried meanwhile (S41)")
    func restingPhone() throws {
        var household = Household()
        let account = try household.person()
        let (old, new): (PhoneID, PhoneID) = (household.id(), household.id())
        try Self.phone(of: account, old, in: &household)
        household.pass(.minutes(6))
        // Somebody who holds the old phone for a moment.
        let device = try Self.signIn(by: old, &household)
        let (code, request) = try Self.change(&household, phone: new, by: device)
        try household.ask(account, request)
        try household.ask(account, ChangePhone(code: code, proof: try Household.proof("123456")))
        household.pass(.minutes(1))
        func asking(_ phone: PhoneID) throws -> any CommandBody {
            RequestSignInCode(
                phone: phone, code: household.id(), proof: try Household.proof("1"), source: Household.source())
        }
        #expect(try household.ask(nil, asking(new)).isEmpty)
        let (_, another) = try Self.change(&household, phone: household.id(), by: device)
        #expect(try household.rejection(account, another) == .tooSoon)
        household.pass(.days(1))
        #expect(try !household.ask(nil, asking(new)).isEmpty)
    }

    /// Signs in by a code that was sent to a phone.
    private static func signIn(by phone: PhoneID, _ household: inout Household) throws -> DeviceID {
        let (code, proof): (PhoneCodeID, Proof) = (household.id(), try Household.proof("123456"))
        try household.ask(
            nil, RequestSignInCode(phone: phone, code: code, proof: proof, source: Household.source()))
        let events = try household.ask(
            nil,
            SignInByPhone(
                phone: phone, code: code, proof: [proof], device: try household.device(), source: Household.source()
            )
        )
        guard case .deviceSignedIn(let event) = events[0] else { throw Unexpected(events) }
        return event.device.id
    }

    @Test("S41: a sign-in that is refused for its device's id leaves the count of wrong passwords as it was")
    func sameDevice() throws {
        var household = Household()
        let account = try household.person()
        let known = try #require(household.state(account).devices.first?.id)
        let wrong = SignIn(
            handle: "anna", verifier: try Household.proof("x"), device: try household.device(),
            source: Household.source())
        try household.ask(nil, wrong)
        let again = SignIn(
            handle: "anna", verifier: try Household.proof("secret"),
            device: NewDevice(id: known, name: "phone", token: try Household.secret("t")), source: Household.source())
        #expect(try household.rejection(nil, again) == .invalidField)
        let key = AttemptKey(.handle(try Handle("anna")), Household.source())
        #expect(household.rows.attempts[key]?.guesses.failures == 1)
    }

    @Test("S48: a device that isn't signed in confirms nothing")
    func confirmationOfAStranger() throws {
        var household = Household()
        let account = try household.person()
        let confirm = ConfirmIdentity(verifier: try Household.proof("secret"), device: household.id())
        #expect(try household.rejection(account, confirm) == .deviceSignedOut)
    }

    // MARK: Onboarding

    @Test("S44: an account needs a profile until its person has given a name")
    func onboarding() throws {
        var household = Household()
        let account: AccountID = household.id()
        try household.ask(
            nil,
            SignUp(
                account: account, handle: "anna", verifier: try Household.proof("x"),
                device: try household.device()))
        #expect(household.state(account).onboarding == .needsProfile)
        try household.ask(account, UpdateProfile(expectedVersion: 1, name: "Anna"))
        #expect(household.state(account).onboarding == .done)
    }

    // MARK: Avatars

    private static func avatar(_ size: Int = 70, type: ImageType = .png) throws -> Avatar {
        Avatar(hash: ContentHash(of: Array("\(size)".utf8)), type: type, size: size, width: 1, height: 1)
    }

    @Test("R10: a picture is what was uploaded under its hash, whole, and of the type that its bytes say")
    func avatar() throws {
        var household = Household()
        let account = try household.person()
        let avatar = try Self.avatar()
        let set = SetAvatar(avatar: avatar)
        let stranger = try household.person("bob")
        household.rows.uploads[UploadKey(stranger, avatar.hash)] = Upload(size: 70, type: .png)
        #expect(try household.rejection(account, set) == .notFound, "another account's upload is nobody else's")
        for upload in [Upload(size: 71, type: .png), Upload(size: 70, type: .jpeg), Upload(size: 70, type: nil)] {
            household.rows.uploads[UploadKey(account, avatar.hash)] = upload
            #expect(try household.rejection(account, set) == .invalidField)
        }
        household.rows.uploads[UploadKey(account, avatar.hash)] = Upload(size: 70, type: .png)
        #expect(
            try household.ask(account, set) == [
                .avatarSet(.init(account: account, avatar: avatar, at: household.time))
            ])
        #expect(household.state(account).avatar == avatar)
        #expect(try household.ask(account, set).isEmpty)
        #expect(
            try household.ask(account, RemoveAvatar()) == [
                .avatarRemoved(.init(account: account, at: household.time))
            ])
        #expect(try household.ask(account, RemoveAvatar()).isEmpty)
        let large = try Self.avatar((2 << 20) + 1)
        #expect(try household.rejection(account, SetAvatar(avatar: large)) == .invalidField)
    }

    @Test("R10: what a picture is stands in its bytes, whatever somebody calls it")
    func headers() {
        let png: [UInt8] =
            [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
            + [0, 0, 1, 0, 0, 0, 0, 2, 8, 6, 0, 0, 0, 0, 0, 0, 0]
        let header = ImageHeader(png)
        #expect(header?.type == .png && header?.width == 256 && header?.height == 2)
        // A JPEG with a comment before its frame.
        let jpeg: [UInt8] =
            [0xFF, 0xD8, 0xFF, 0xFE, 0, 4, 65, 66, 0xFF, 0xC0, 0, 17, 8, 0, 3, 0, 5, 3, 1, 0x22, 0, 2, 0x11, 1, 3]
        let frame = ImageHeader(jpeg)
        #expect(frame?.type == .jpeg && frame?.width == 5 && frame?.height == 3)
        for bytes: [UInt8] in [
            [], Array("GIF89a".utf8), Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8), Array(png.prefix(20)),
            [0xFF, 0xD8, 0xFF], [0xFF, 0xD8, 0xFF, 0xE0, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0],
            [0xFF, 0xD8, 0xFF, 0xE0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        ] {
            #expect(ImageHeader(bytes) == nil)
        }
    }

    @Test("R10: any bytes are read to a header or to nothing, never past their end")
    func anyBytes() async throws {
        try await withRandom { random in
            for _ in 0..<20_000 {
                var bytes: [UInt8] =
                    random.oneIn(2) ? [0xFF, 0xD8, 0xFF] : [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
                for _ in 0..<Int.random(in: 0...60, using: &random) {
                    bytes.append(random.oneIn(3) ? 0xFF : UInt8.random(in: 0...255, using: &random))
                }
                if let header = ImageHeader(bytes) { try #require(header.width > 0 && header.height > 0) }
            }
        }
    }

    @Test("S18: after a month the handle of a closed account is free, and nothing of the person is left")
    func freeHandle() throws {
        var household = Household()
        let account = try household.person()
        try Self.phone(of: account, household.id(), in: &household)
        let closed = household.time
        try household.ask(account, CloseAccount(by: try household.confirmed(account)))
        #expect(household.rows.phoneCodes.keys.isEmpty && household.rows[account]?.phone == nil)
        let timers = household.rows.wantedTimers(of: account)
        #expect(timers.map(\.due) == [closed + .days(30)])
        #expect(timers.map(\.command) == [.account(.freeHandle(FreeHandle(account: account)))])
        household.pass(.days(29))
        #expect(try household.rejection(nil, timers[0].command.body) == .notDue)
        household.pass(.days(1))
        #expect(try household.ask(nil, timers[0].command.body).isEmpty)
        #expect(household.rows[account]?.handle == nil && household.rows.wantedTimers(of: account).isEmpty)
    }
}
