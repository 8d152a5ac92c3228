// What is no good, and how it is refused.

extension BadInputTests {
    // MARK: What is no good

    static let notTexts = ["1", "true", "[]", "{}"]
    static let notRequiredTexts = ["1", "true", "[]", "{}", "null"]
    static let notFlags = ["1", "0", "\"true\"", "[]", "{}"]
    static let notRequiredFlags = ["1", "0", "\"true\"", "[]", "{}", "null"]
    /// Other types, fractions, and more than 64 bits.
    static let notNumbers = [
        "null", "true", "\"1\"", "[]", "{}", "1.5", "9223372036854775808", "-9223372036854775809", "1e400",
    ]
    static let notIDs = [
        "1", "true", "[]", "{}", "\"\"", "\"me\"", "\"01a1fc7460f58a3d8f588ea58e860fb8\"",
        "\"{01a1fc74-60f5-8a3d-8f58-8ea58e860fb8}\"", "\"01a1fc74-60f5-8a3d-8f58-8ea58e860fb\"",
        "\"01a1fc74-60f5-8a3d-8f58-8ea58e860fb8 \"", "\"01a1fc74-60f5-8a3d-8f58-8ea58e860fbg\"",
        "\"01a1fc74_60f5_8a3d_8f58_8ea58e860fb8\"",
    ]
    static let notRequiredIDs = notIDs + ["null"]

    /// Controls, what turns the direction of the text around, what is no visible text, and heaps of marks.
    static let misleading =
        [
            "\\u202E", "\\u2066", "\\u2069", "\\u200E", "\\u200F", "\\u061C", "\\uFEFF", "\\u0007", "\\u000D",
            "\\u001B[31m", "\\u007F", "\\u0085", "\\u2028", "\\u2029", "\\uE000", "\\u0378", "\\u200B", "\\u2060",
            "\\u00AD", "\\u3164", "\\u115F", "\\u2800", "\\uFFFE", "\\uFFF9",
        ].map { "\"a\($0)b\"" } + ["\"a\(String(repeating: "\\u0301", count: 60))\""]
    /// The same where there is one line.
    static let misleadingLine = misleading + ["\"a\\nb\"", "\"a\\tb\""]

    /// What has digits, signs, invisible letters or none at all, or is too short or too long.
    static let notNames = [
        "\"Anna1\"", "\"An\\uD83D\\uDE00na\"", "\"An\\u200Dna\"", "\"An\\u200Bna\"", "\"An\\uFEFFna\"",
        "\"An\\u2066na\"",
        "\"An\\u200Fna\"", "\"An\\u00ADna\"", "\"An\\u00A0na\"", "\"An\\nna\"", "\"An\\tna\"", "\"An\\u2028na\"",
        "\"    \"",
        "\"--\"", "\"''\"", "\"<b>Anna\"", "\"Anna_\"", "\" A \"", "\"\\u0301\\u0301\"", "\"\\u200B\\u200B\"",
        "\"\\u3164\\u3164\"",
        "\"A\(String(repeating: "\\u0301", count: 60))nna\"", "\"\(String(repeating: "a", count: 1601))\"",
    ]

    /// What is too short or too long, begins or ends wrongly, has other signs or letters that only look right, or could be
    /// taken for the people who run the service.
    static let notHandles = [
        "\"\"", "\"ab\"", "\"\(String(repeating: "a", count: 31))\"", "\"\(String(repeating: "a", count: 401))\"",
        "\"1anna\"", "\"anna.\"", "\"anna-\"", "\"_anna\"", "\"an na\"", "\"an@na\"", "\"an/na\"", "\"an\\nna\"",
        "\"an\\u200Bna\"", "\"an\\u200Dna\"", "\"an\\u202Ena\"", "\"an\\u00A0na\"", "\"ann\\u0430\"", "\"\\u03B1nna\"",
        "\"\\u0131ris\"", "\"\\u0130ris\"", "\"anna\\u0301\"", "\"\\u00DFanna\"", "\"anna\\uD83D\\uDE00\"", "\"r00t\"",
        "\"adm1n\"",
        "\"supp0rt\"", "\"sy5tem\"", "\"he1p\"", "\"q.uartet\"", "\"a.d.m.i.n\"", "\"adrnin\"", "\"vvebmaster\"",
        "\"quartet-support\"", "\"anna.staff\"", "\"admin2\"", "\"help_desk\"", "\"off1c1al\"", "\"mo-clerator\"",
    ]

    static func text(_ count: Int) -> String { "\"\(String(repeating: "a", count: count))\"" }

    // MARK: Session's commands

    static let profile: [Rule] = [
        .malformed("UpdateProfile", #"{"expectedVersion":*,"name":"Anne"}"#, notNumbers, "expectedVersion"),
        Rule(
            "UpdateProfile", #"{"expectedVersion":*,"name":"Anne"}"#,
            ["0", "-1", "2", "9223372036854775807", "-9223372036854775808"], 409, "staleVersion", "expectedVersion"),
        .malformed("UpdateProfile", #"{"expectedVersion":1,"name":*}"#, notTexts, "name"),
        .invalid("UpdateProfile", #"{"expectedVersion":1,"name":*}"#, notNames, "name"),
        .malformed("UpdateProfile", #"{"expectedVersion":1,"emergencyNote":*}"#, notTexts, "emergencyNote"),
        .invalid("UpdateProfile", #"{"expectedVersion":1,"emergencyNote":*}"#, misleading, "emergencyNote"),
        // Few characters of many bytes each.
        .invalid(
            "UpdateProfile", #"{"expectedVersion":1,"emergencyNote":*}"#,
            ["\"\(String(repeating: "👨‍👩‍👧‍👦", count: 641))\""], "emergencyNote"),
        .malformed("UpdateProfile", #"{"expectedVersion":1,"Name":"Anne"}"#, [""], "Name"),
        .malformed("UpdateProfile", #"{"expectedVersion":1,"profileVersion":2}"#, [""], "profileVersion"),
        .malformed("UpdateProfile", #"{"expectedVersion":1,"handle":"anne","name":"Anne"}"#, [""], "handle"),
        // The first of several in the order of their names, at each try the same.
        .malformed("UpdateProfile", #"{"expectedVersion":1,"b":1,"a":1,"c":1}"#, [""], "a"),
    ]

    static let checkIns: [Rule] = [
        .malformed("SetCheckInInterval", "{}", [""], "interval"),
        .malformed(
            "SetCheckInInterval", #"{"interval":*}"#, ["null", "true", "\"3600000000\"", "[]", "{}"], "interval"),
        // No whole number of 64 bits.
        .malformed(
            "SetCheckInInterval", #"{"interval":*}"#,
            ["3600000000.5", "9223372036854775808", "-9223372036854775809", "1e400"], "interval"),
        .invalid(
            "SetCheckInInterval", #"{"interval":*}"#,
            [
                "0", "-1", "3599999999", "604800000001", "-3600000000", "9223372036854775807", "-9223372036854775808",
            ], "interval"),
        .malformed("SetCheckInInterval", #"{"interval":3600000000,"unit":"hours"}"#, [""], "unit"),
        .malformed("SetCheckInReminders", "{}", [""], "reminders"),
        .malformed(
            "SetCheckInReminders", #"{"reminders":*}"#, ["null", "true", "1", "\"twoHours\"", "{}"], "reminders"),
        .malformed(
            "SetCheckInReminders", #"{"reminders":*}"#, ["[1]", "[null]", "[[]]", "[\"TwoHours\"]", "[\"\"]"],
            "reminders.0"),
        .malformed("SetCheckInReminders", #"{"reminders":*}"#, ["[\"twoHours\",\"oneDay\"]"], "reminders.1"),
        .invalid(
            "SetCheckInReminders", #"{"reminders":*}"#,
            ["[\"twoHours\",\"twoHours\"]", "[\"twoHours\",\"thirtyMinutes\",\"twoHours\"]"], "reminders"),
        .malformed("SetCheckInReminders", #"{"reminders":[],"lead":"twoHours"}"#, [""], "lead"),
    ]

    /// Commands without fields.
    static let bare: [Rule] = [
        "CheckIn", "RaiseAlert", "ClearAlert", "MarkAllRead", "ResetContactCode", "RemovePhone", "UnregisterPush",
    ].flatMap { command -> [Rule] in
        [
            .malformed(command, "*", ["[]", "null", "5", "\"text\"", "true"], nil),
            .malformed(command, #"{"at":1}"#, [""], "at"),
            .malformed(command, #"{"code":"<code>"}"#, [""], "code"),
        ]
    }

    // MARK: Notifications' commands

    static let reading: [Rule] = [
        .malformed("MarkRead", "{}", [""], "id"),
        .malformed("MarkRead", #"{"id":*}"#, notRequiredIDs, "id"),
        // Somebody else's.
        Rule("MarkRead", #"{"id":"<told>"}"#, 404, "notFound", "id"),
        .malformed("MarkRead", #"{"id":"<told>","at":1}"#, [""], "at"),
        .malformed("ShowNotifications", "{}", [""], "ids"),
        .malformed("ShowNotifications", #"{"ids":*}"#, ["null", "1", "true", "\"all\"", "{}"], "ids"),
        .malformed("ShowNotifications", #"{"ids":[*]}"#, notRequiredIDs, "ids.0"),
        .malformed("ShowNotifications", #"{"ids":["<told>"],"shown":*}"#, notNumbers.filter { $0 != "null" }, "shown"),
        // Which device it is the token says.
        .malformed("ShowNotifications", #"{"ids":["<told>"],"device":"<nobody>"}"#, [""], "device"),
        .invalid("ShowNotifications", #"{"ids":*}"#, ["[]"], "ids"),
        .malformed("ClearNotifications", "{}", [""], "selection"),
        .malformed("ClearNotifications", #"{"selection":*}"#, ["null", "1", "true", "\"all\"", "[]"], "selection"),
        .malformed("ClearNotifications", #"{"selection":{"everything":true},"all":true}"#, [""], "all"),
        .invalid(
            "ClearNotifications", #"{"selection":*}"#,
            [
                "{\"everything\":false}", "{\"category\":null}", "{\"occurredBy\":1}",
                "{\"everything\":true,\"kinds\":[\"system\"]}", "{\"everything\":true,\"subjects\":[\"<bob>\"]}",
                "{\"everything\":true,\"ids\":[\"<told>\"]}", "{\"everything\":true,\"category\":\"alerts\"}",
            ], "selection"),
        .malformed(
            "ClearNotifications", #"{"selection":{"ids":*}}"#, ["1", "true", "\"<told>\"", "{}"], "selection.ids"),
        .malformed(
            "ClearNotifications", #"{"selection":{"ids":*}}"#, ["[5]", "[null]", "[\"x\"]", "[[]]"],
            "selection.ids.0"),
        .invalid("ClearNotifications", #"{"selection":{"ids":*}}"#, ["[]", many("<told>", 501)], "selection.ids"),
    ]

    static let selecting: [Rule] = [
        .malformed(
            "ClearNotifications", #"{"selection":{"kinds":*}}"#, ["1", "true", "\"system\"", "{}"], "selection.kinds"),
        .malformed(
            "ClearNotifications", #"{"selection":{"kinds":*}}"#, ["[1]", "[null]", "[\"System\"]", "[\"\"]"],
            "selection.kinds.0"),
        .invalid("ClearNotifications", #"{"selection":{"kinds":*}}"#, ["[]", many("system", 25)], "selection.kinds"),
        // Each kind once.
        .invalid("ClearNotifications", #"{"selection":{"kinds":*}}"#, [many("system", 2)], "selection.kinds"),
        .malformed(
            "ClearNotifications", #"{"selection":{"category":*}}"#, ["1", "true", "[]", "\"all\"", "\"Alerts\""],
            "selection.category"),
        .malformed(
            "ClearNotifications", #"{"selection":{"subjects":[*]}}"#, notRequiredIDs, "selection.subjects.0"),
        .invalid("ClearNotifications", #"{"selection":{"subjects":*}}"#, ["[]"], "selection.subjects"),
        .malformed("ClearNotifications", #"{"selection":{"everything":*}}"#, notFlags, "selection.everything"),
        .malformed(
            "ClearNotifications", #"{"selection":{"everything":true,"occurredBy":*}}"#,
            ["true", "\"now\"", "[]", "{}"], "selection.occurredBy"),
        // No whole number of 64 bits.
        .malformed(
            "ClearNotifications", #"{"selection":{"everything":true,"occurredBy":*}}"#,
            ["1.5", "9223372036854775808", "-9223372036854775809", "1e400"], "selection.occurredBy"),
    ]

    static func many(_ text: String, _ count: Int) -> String {
        "[\(Array(repeating: "\"\(text)\"", count: count).joined(separator: ","))]"
    }

    // MARK: Signing up, in and out, operations

    static let signUp: [Rule] = [
        .malformed("/v1/sign-up", "*", ["[]", "null", "5", "\"text\""], nil),
        .malformed("/v1/sign-up", "{}", [""], "handle"),
        .malformed("/v1/sign-up", #"{"password":"a long enough password"}"#, [""], "handle"),
        .malformed(
            "/v1/sign-up", #"{"handle":*,"password":"a long enough password"}"#, notRequiredTexts, "handle"),
        .invalid("/v1/sign-up", #"{"handle":*,"password":"a long enough password"}"#, notHandles, "handle"),
        // Whatever could be taken for a handle that somebody has.
        Rule(
            "/v1/sign-up", #"{"handle":*,"password":"a long enough password"}"#,
            [
                "\"anna\"", "\"ANNA\"", "\" anna \"", "\"\\uFF41\\uFF4E\\uFF4E\\uFF41\"", "\"a.nna\"", "\"an_na\"",
                "\"b0b\"",
            ], 409, "handleTaken", "handle"),
        .malformed("/v1/sign-up", #"{"handle":"dora","password":*}"#, notRequiredTexts, "password"),
        .invalid(
            "/v1/sign-up", #"{"handle":"dora","password":*}"#,
            ["\"\"", text(9), text(201), "\"\(String(repeating: "👨‍👩‍👧‍👦", count: 50))\""], "password"),
        .malformed(
            "/v1/sign-up", #"{"handle":"dora","password":"a long enough password","name":*}"#, notTexts, "name"),
        .invalid(
            "/v1/sign-up", #"{"handle":"dora","password":"a long enough password","name":*}"#,
            ["\"\"", "\"D\"", "\"Do\\u202Era\"", "\"Do\\u200Bra\"", "\"D0ra\"", "\"--\"", text(51)], "name"),
        .malformed(
            "/v1/sign-up", #"{"handle":"dora","password":"a long enough password","deviceName":*}"#, notTexts,
            "deviceName"),
        .invalid(
            "/v1/sign-up", #"{"handle":"dora","password":"a long enough password","deviceName":*}"#,
            ["\"a\\u202Eb\"", "\"a\\nb\"", "\"a\\uFEFFb\"", text(51)], "deviceName"),
        .malformed(
            "/v1/sign-up", #"{"handle":"dora","password":"a long enough password","account":"<anna>"}"#, [""],
            "account"),
        .malformed(
            "/v1/sign-up", #"{"handle":"dora","password":"a long enough password","verifier":"x"}"#, [""], "verifier"),
    ]

    static let signIn: [Rule] = [
        .malformed("/v1/sign-in", "*", ["[]", "null", "5", "\"text\""], nil),
        .malformed("/v1/sign-in", "{}", [""], "handle"),
        .malformed("/v1/sign-in", #"{"handle":"nobody-here"}"#, [""], "password"),
        .malformed(
            "/v1/sign-in", #"{"handle":*,"password":"a long enough password"}"#, notRequiredTexts, "handle"),
        .malformed("/v1/sign-in", #"{"handle":"nobody-here","password":*}"#, notRequiredTexts, "password"),
        // A handle that can't be is one that nobody has.
        Rule(
            "/v1/sign-in", #"{"handle":*,"password":"a long enough password"}"#,
            ["\"\"", "\"ab\"", "\"1anna\"", "\"ann\\u0430\"", "\"an\\u200Bna\"", "\"nobody-here\""], 401,
            "invalidCredentials", "password"),
        .invalid("/v1/sign-in", #"{"handle":"nobody-here","password":*}"#, [text(9), text(201)], "password"),
        .malformed(
            "/v1/sign-in", #"{"handle":"nobody-here","password":"a long enough password","deviceName":*}"#, notTexts,
            "deviceName"),
        .invalid(
            "/v1/sign-in", #"{"handle":"nobody-here","password":"a long enough password","deviceName":*}"#,
            ["\"\"", "\"a\\u202Eb\"", text(51)], "deviceName"),
        .malformed(
            "/v1/sign-in", #"{"handle":"nobody-here","password":"a long enough password","name":"Anna"}"#, [""],
            "name"),
    ]

    /// Whole but for whose they are, and one of another sort, too.
    static let notRefreshTokens = [
        "\"\"", "\"x\"", "\"a.b.c.d\"", "\"...\"", text(600), "\"<forged>\"", "\"<token>\"",
    ]
    static let tokens: [Rule] = [
        .malformed("/v1/token", "{}", [""], "refreshToken"),
        .malformed("/v1/token", #"{"refreshToken":*}"#, notRequiredTexts, "refreshToken"),
        Rule("/v1/token", #"{"refreshToken":*}"#, notRefreshTokens, 401, "invalidToken", "refreshToken"),
        .malformed("/v1/undo", #"{"refreshToken":*}"#, notRequiredTexts, "refreshToken"),
        Rule("/v1/undo", #"{"refreshToken":*}"#, notRefreshTokens, 401, "invalidToken", "refreshToken"),
        .malformed(
            "/v1/undo", #"{"refreshToken":"x","since":*}"#, notNumbers.filter { $0 != "null" }, "since"),
        .malformed("/v1/undo", #"{"refreshToken":"x","account":"<bob>"}"#, [""], "account"),
        .malformed("/v1/token", #"{"refreshToken":"x","device":"<annaDevice>"}"#, [""], "device"),
        .malformed("/v1/sign-out", #"{"device":*}"#, notIDs, "device"),
        Rule(
            "/v1/sign-out", #"{"device":*}"#, ["\"<bobDevice>\"", "\"<nobody>\"", "\"<anna>\""], 404, "notFound",
            "device"),
        .invalid("/v1/sign-out", #"{"device":"<annaDevice>","everywhere":true}"#, [""], "device"),
        .malformed("/v1/sign-out", #"{"everywhere":*}"#, notFlags, "everywhere"),
        .malformed("/v1/sign-out", #"{"account":"<bob>"}"#, [""], "account"),
        .malformed("/v1/operations/ClearAllReceivedPings", "*", ["[]", "null", "5", "\"text\""], nil),
        .malformed("/v1/operations/ClearAllReceivedPings", #"{"checkIn":*}"#, notFlags, "checkIn"),
        .malformed("/v1/operations/ClearAllReceivedPings", #"{"contacts":["<bob>"]}"#, [""], "contacts"),
        Rule("/v1/operations/Nonsense", "{}", 404, "unknownOperation", "operation"),
        Rule("/v1/operations/clearAllReceivedPings", "{}", 404, "unknownOperation", "operation"),
    ]

    // MARK: Who somebody is

    /// What is no number of E.164.
    static let notPhones = [
        "\"\"", "\"+\"", "\"030123456\"", "\"+0301234567\"", "\"+49\"", "\"+49301234567890123\"", "\"+49 30 12a456\"",
        "\"+49\\u0663\\u0660123456\"", "\"+49301\\u200B23456\"", "\"tel:+4930123456\"", "\"+4930123456\\n\"",
        "\"\(String(repeating: "+49", count: 40))\"",
    ]
    static let notCodes = [
        "\"\"", "\"12345\"", "\"1234567\"", "\"12345a\"", "\"\\u0661\\u0662\\u0663\\u0664\\u0665\\u0666\"",
        "\"-12345\"",
    ]
    static let notRecoveryCodes = [
        "\"\"", "\"12345\"", "\"00000-00000-00000-0000\"", "\"00000-00000-00000-000000\"",
        "\"00000-00000-00000-0000u\"",
        "\"00000-00000-00000-0000\\u0661\"", "\"00000_00000_00000_00000\"", text(600),
    ]
    static let security: [Rule] = [
        .malformed("/v1/recovery-codes", #"{"proofs":[]}"#, [""], "proofs"),
        .malformed("/v1/confirm", "{}", [""], "password"),
        .malformed("/v1/confirm", #"{"recoveryCode":*}"#, notTexts, "recoveryCode"),
        .invalid("/v1/confirm", #"{"recoveryCode":*}"#, notRecoveryCodes, "recoveryCode"),
        .malformed(
            "/v1/confirm", #"{"password":"a long enough password","recoveryCode":"00000-00000-00000-00000"}"#, [""],
            "recoveryCode"),
        .malformed("/v1/sign-in", #"{"handle":"nobody-here","recoveryCode":*}"#, notTexts, "recoveryCode"),
        .invalid("/v1/sign-in", #"{"handle":"nobody-here","recoveryCode":*}"#, notRecoveryCodes, "recoveryCode"),
        .malformed("UpdateSecurity", #"{"isSingleDevice":*}"#, notFlags, "isSingleDevice"),
        .malformed("UpdateSecurity", #"{"isConfirmationRequired":*}"#, notFlags, "isConfirmationRequired"),
        .malformed("UpdateSecurity", #"{"by":"<annaDevice>"}"#, [""], "by"),
        .malformed("RemovePhone", #"{"by":"<annaDevice>"}"#, [""], "by"),
        .malformed("/v1/confirm", #"{"password":*}"#, notRequiredTexts, "password"),
        .malformed("/v1/confirm", #"{"password":"a long enough password","device":"<annaDevice>"}"#, [""], "device"),
        .invalid("/v1/confirm", #"{"password":*}"#, ["\"\"", text(9), text(201)], "password"),
        Rule(
            "/v1/sign-up", #"{"handle":"dora-miller","password":*}"#,
            [
                "\"qwertyuiop\"", "\"QwertyUiop\"", "\"1q2w3e4r5t\"", "\"1234567890\"", "\"password-123\"",
                "\"dora-miller\"", "\"DoraMiller2024\"", "\"ababababababab\"",
            ], 422, "commonPassword", "password"),
        Rule(
            "/v1/change-password", #"{"password":"a long enough password","newPassword":*}"#,
            ["\"iloveyou123\""], 422, "commonPassword", "newPassword"),
        .malformed("/v1/reset-password", #"{"newPassword":*}"#, notRequiredTexts, "newPassword"),
        .invalid("/v1/reset-password", #"{"newPassword":*}"#, ["\"\"", text(9), text(201)], "newPassword"),
        Rule("/v1/reset-password", #"{"newPassword":*}"#, ["\"password123\""], 422, "commonPassword", "newPassword"),
        .malformed("/v1/change-password", #"{"password":"a long enough password"}"#, [""], "newPassword"),
        .malformed("/v1/change-password", #"{"password":*,"newPassword":"another password"}"#, notTexts, "password"),
        .invalid(
            "/v1/change-password", #"{"password":"a long enough password","newPassword":*}"#,
            ["\"\"", text(9), text(201)], "newPassword"),
        .malformed("/v1/phone", #"{"phone":*}"#, notRequiredTexts, "phone"),
        .invalid("/v1/phone", #"{"phone":*}"#, notPhones, "phone"),
        .malformed("/v1/phone/verification", #"{"phoneCode":*,"code":"123456"}"#, notRequiredIDs, "phoneCode"),
        .malformed("/v1/phone/verification", #"{"phoneCode":"<nobody>","code":*}"#, notRequiredTexts, "code"),
        .invalid("/v1/phone/verification", #"{"phoneCode":"<nobody>","code":*}"#, notCodes, "code"),
        Rule("/v1/phone/verification", #"{"phoneCode":"<nobody>","code":"123456"}"#, 422, "invalidCode", "code"),
        .malformed("/v1/sign-in/codes", #"{"phone":*}"#, notRequiredTexts, "phone"),
        .invalid("/v1/sign-in/codes", #"{"phone":*}"#, notPhones, "phone"),
        .malformed("/v1/sign-in", #"{"phone":"+4930123456","code":"123456"}"#, [""], "phoneCode"),
        .malformed("/v1/sign-in", #"{"phone":"+4930123456","phoneCode":"<nobody>"}"#, [""], "code"),
        .malformed(
            "/v1/sign-in", #"{"handle":"anna","password":"a long enough password","phone":"+4930123456"}"#, [""],
            "phone"),
        .invalid("/v1/sign-in", #"{"phone":*,"phoneCode":"<nobody>","code":"123456"}"#, notPhones, "phone"),
        .invalid("/v1/sign-in", #"{"phone":"+4930123456","phoneCode":"<nobody>","code":*}"#, notCodes, "code"),
        Rule(
            "/v1/sign-in", #"{"phone":"+4930123456","phoneCode":"<nobody>","code":"123456"}"#, 401,
            "invalidCredentials",
            "code"),
        .invalid(
            "/v1/sign-up", #"{"handle":"gina","password":"a long enough password","phone":*}"#, notPhones, "phone"),
        .invalid("AddContact", #"{"phone":*,"iAmResponder":true}"#, notPhones, "phone"),
        .invalid("AddContact", #"{"phone":"+4930123456","handle":"bob","iAmResponder":true}"#, [""], "code"),
        Rule("AddContact", #"{"phone":"+4930123456","iAmResponder":true}"#, 404, "notFound", "phone"),
        .malformed("RegisterPush", #"{"token":*,"platform":"ios"}"#, notRequiredTexts, "token"),
        .invalid(
            "RegisterPush", #"{"token":*,"platform":"ios"}"#,
            ["\"\"", "\"a b\"", "\"a\\nb\"", "\"\\u00E4\"", text(4097)], "token"),
        .malformed("RegisterPush", #"{"token":"x","platform":*}"#, ["1", "null", "\"iOS\"", "\"\""], "platform"),
        .malformed("RegisterPush", #"{"token":"x","platform":"ios","device":"<bobDevice>"}"#, [""], "device"),
        .malformed("/v1/operations/RespondToAllPings", #"{"contacts":[]}"#, [""], "contacts"),
        .malformed("/v1/operations/CloseAccount", #"{"account":"<bob>"}"#, [""], "account"),
        .malformed("/v1/operations/CloseAccount", #"{"by":"<annaDevice>"}"#, [""], "by"),
        Rule("/v1/operations/SignOut", #"{"device":"<annaDevice>"}"#, 404, "unknownOperation", "operation"),
    ]
}
