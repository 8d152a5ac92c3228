// How each field of sign-ins, passwords, phones and devices is refused.

extension BadInputTests {
    private static let password = "\"a long enough password\""
    /// Too short and too long.
    private static let notPasswords = ["\"\"", text(9), text(201)]

    // MARK: Signing up, in and out

    static let signUp =
        Form("/v1/sign-up", ["handle": "\"dora\"", "password": password]).refuses(
            .malformed(bodies: ["[]", "null", "5", "\"text\""]),
            .malformed(bodies: ["{}"], at: "handle"),
            .missing("handle", "password"),
            .malformed("handle", notRequiredTexts),
            .invalid("handle", notHandles),
            // Handles that look like Anna's and Bob's.
            .refused(
                "handle",
                [
                    "\"anna\"", "\"ANNA\"", "\" anna \"", "\"\\uFF41\\uFF4E\\uFF4E\\uFF41\"", "\"a.nna\"", "\"an_na\"",
                    "\"b0b\"",
                ], 409, "handleTaken"),
            .malformed("password", notRequiredTexts),
            .invalid("password", notPasswords + ["\"\(String(repeating: "👨‍👩‍👧‍👦", count: 50))\""]),
            .refused(
                "password",
                [
                    "\"qwertyuiop\"", "\"QwertyUiop\"", "\"1q2w3e4r5t\"", "\"1234567890\"", "\"password-123\"",
                    "\"ababababababab\"",
                ], 422, "commonPassword"),
            .malformed("name", notTexts),
            .invalid("name", ["\"\"", "\"D\"", "\"Do\\u202Era\"", "\"Do\\u200Bra\"", "\"D0ra\"", "\"--\"", text(51)]),
            .malformed("deviceName", notTexts),
            .invalid("deviceName", ["\"\"", "\"a\\u202Eb\"", "\"a\\nb\"", "\"a\\uFEFFb\"", text(51)]),
            .invalid("phone", notPhones),
            .unknown("account", "verifier", "admin"))
        + Form("/v1/sign-up", ["handle": "\"dora-miller\"", "password": password]).refuses(
            .refused("password", ["\"dora-miller\"", "\"DoraMiller2024\""], 422, "commonPassword"))

    static let signIn =
        Form("/v1/sign-in", ["handle": "\"nobody-here\"", "password": password]).refuses(
            .malformed(bodies: ["[]", "null", "5", "\"text\""]),
            .malformed(bodies: ["{}"], at: "handle"),
            .missing("password"),
            .malformed("handle", notRequiredTexts),
            .malformed("password", notRequiredTexts),
            // An impossible handle is answered like one that nobody has.
            .refused(
                "handle", ["\"\"", "\"ab\"", "\"1anna\"", "\"ann\\u0430\"", "\"an\\u200Bna\"", "\"nobody-here\""], 401,
                "invalidCredentials", at: "password"),
            .invalid("password", [text(9), text(201)]),
            .malformed("deviceName", notTexts),
            .invalid("deviceName", ["\"\"", "\"a\\u202Eb\"", text(51)]),
            .malformed("phone", ["\"+4930123456\""]),
            .unknown("name"))
        + Form("/v1/sign-in", ["handle": "\"nobody-here\""]).refuses(
            .malformed("recoveryCode", notTexts), .invalid("recoveryCode", notRecoveryCodes))
        + Form("/v1/sign-in", ["phone": "\"+4930123456\"", "phoneCode": "\"<nobody>\"", "code": "\"123456\""]).refuses(
            .missing("phoneCode", "code"),
            .invalid("phone", notPhones),
            .invalid("code", notCodes),
            .refused("code", ["\"123456\""], 401, "invalidCredentials"))

    static let tokens =
        ["/v1/token", "/v1/undo"].flatMap {
            Form($0, ["refreshToken": "\"x\""]).refuses(
                .missing("refreshToken"),
                .malformed("refreshToken", notRequiredTexts),
                .refused("refreshToken", notRefreshTokens, 401, "invalidToken"),
                .unknown("device", "account"))
        } + Form("/v1/undo", ["refreshToken": "\"x\""]).refuses(.malformed("since", notTimes))

    static let signOut = Form("/v1/sign-out").refuses(
        .malformed("device", notIDs),
        .refused("device", ["\"<bobDevice>\"", "\"<nobody>\"", "\"<anna>\""], 404, "notFound"),
        .refused(
            bodies: [#"{"device":"<annaDevice>","everywhere":true}"#], 422, "invalidField", at: "device"),
        .malformed("everywhere", notFlags),
        .unknown("account"))

    static let operations =
        Form("/v1/operations/ClearAllReceivedPings").refuses(
            .malformed(bodies: ["[]", "null", "5", "\"text\""]), .malformed("checkIn", notFlags),
            .malformed("upTo", notTimes), .unknown("contacts"))
        + Form("/v1/operations/RespondToAllPings").refuses(.malformed("upTo", notTimes), .unknown("contacts"))
        + Form("/v1/operations/CloseAccount").refuses(.unknown("account", "by"))
        + ["Nonsense", "clearAllReceivedPings", "SignOut"].flatMap {
            Form("/v1/operations/\($0)").refuses(.refused(bodies: ["{}"], 404, "unknownOperation", at: "operation"))
        }

    // MARK: Passwords, phones, pushes

    static let confirming =
        Form("/v1/confirm", ["password": password]).refuses(
            .missing("password"), .malformed("password", notRequiredTexts), .invalid("password", notPasswords),
            .malformed("recoveryCode", ["\"00000-00000-00000-00000\""]), .unknown("device"))
        + Form("/v1/confirm").refuses(
            .malformed("recoveryCode", notTexts), .invalid("recoveryCode", notRecoveryCodes))
        + Form("/v1/recovery-codes").refuses(.unknown("proofs"))
        + Form("/v1/reset-password").refuses(
            .malformed("newPassword", notRequiredTexts), .invalid("newPassword", notPasswords),
            .refused("newPassword", ["\"password123\""], 422, "commonPassword"))
        + Form("/v1/change-password", ["password": password, "newPassword": "\"another password\""]).refuses(
            .missing("newPassword"), .malformed("password", notTexts), .invalid("newPassword", notPasswords),
            .refused("newPassword", ["\"iloveyou123\""], 422, "commonPassword"),
            .refused("newPassword", [password], 409, "samePassword"))
        + Form("UpdateSecurity").refuses(
            .malformed("isSingleDevice", notFlags), .malformed("isConfirmationRequired", notFlags), .unknown("by"))
        + Form("RemovePhone").refuses(.unknown("by"))

    static let phones =
        ["/v1/phone", "/v1/sign-in/codes"].flatMap {
            Form($0).refuses(.malformed("phone", notRequiredTexts), .invalid("phone", notPhones))
        }
        + Form("/v1/phone/verification", ["phoneCode": "\"<nobody>\"", "code": "\"123456\""]).refuses(
            .malformed("phoneCode", notRequiredIDs), .malformed("code", notRequiredTexts), .invalid("code", notCodes),
            .refused("code", ["\"123456\""], 422, "invalidCode"))
        + Form("/v1/sign-up", ["handle": "\"dora\"", "password": password, "phone": "\"+4930123456\""]).refuses(
            .invalid("region", ["\"Germany\""]))
        + Form("AddContact", ["phone": "\"+4930123456\"", "iAmResponder": "true"]).refuses(
            .invalid("phone", notPhones), .invalid("handle", ["\"bob\""], at: "code"),
            .refused("phone", ["\"+4930123456\""], 404, "notFound"))

    static let streams = Form("/v1/stream/token", ["stream": "\"x\""]).refuses(
        .malformed("stream", notRequiredTexts),
        .refused("stream", ["\"\"", "\"x\"", "\"<nobody>.x\""], 404, "streamNotFound"),
        .unknown("device"))

    static let pushes = Form("RegisterPush", ["token": "\"x\"", "platform": "\"ios\""]).refuses(
        .malformed("token", notRequiredTexts),
        .invalid("token", ["\"\"", "\"a b\"", "\"a\\nb\"", "\"\\u00E4\"", text(4097)]),
        .malformed("platform", ["1", "null", "\"iOS\"", "\"\""]),
        // A browser's subscription.
        .refused(
            bodies: [
                #"{"token":"{}","platform":"web"}"#,
                #"{"token":"{\"endpoint\":\"http://push.example.net/a\"}","platform":"web"}"#,
            ], 422, "invalidField", at: "token"),
        .unknown("device"))
}
