extension BadInputTests {
    // MARK: Contacts' commands

    static let approval: [Rule] = [
        .malformed("SetContactApproval", "{}", [""], "isRequired"),
        .malformed("SetContactApproval", #"{"isRequired":*}"#, notRequiredFlags, "isRequired"),
        .malformed("SetContactApproval", #"{"isRequired":true,"from":"<bob>"}"#, [""], "from"),
    ]

    /// Commands that name a contact and nothing else.
    static let naming: [Rule] = [
        "DeclineContactRequest", "WithdrawContactRequest", "RequestRoleChange", "AcceptRoleChange",
        "DeclineRoleChange", "WithdrawRoleChange", "RemoveContact", "BlockContact", "UnblockContact", "SendPing",
        "CancelPing", "RespondToPing",
    ].flatMap { command -> [Rule] in
        [
            .malformed(command, "{}", [""], "contact"),
            .malformed(command, #"{"contact":*}"#, notRequiredIDs, "contact"),
            .malformed(command, #"{"contact":"<bob>","reason":"none"}"#, [""], "reason"),
            .malformed(command, #"{"Contact":"<bob>"}"#, [""], "contact"),
        ]
    }

    /// Strangers, nobody, and oneself.
    static let strangers: [Rule] = [
        "RequestRoleChange", "AcceptRoleChange", "DeclineRoleChange", "WithdrawRoleChange", "RemoveContact", "SendPing",
        "CancelPing", "RespondToPing",
    ].map { command -> Rule in
        Rule(command, #"{"contact":*}"#, ["\"<eve>\"", "\"<nobody>\"", "\"<anna>\""], 404, "notContact", "contact")
    }

    static let unasked: [Rule] = [
        "DeclineContactRequest", "WithdrawContactRequest", "UnblockContact",
    ].map { command -> Rule in
        Rule(command, #"{"contact":*}"#, ["\"<eve>\"", "\"<nobody>\"", "\"<anna>\""], 404, "notFound", "contact")
    }

    /// Answers to requests and roles that nobody asked for.
    static let approving: [Rule] = [
        .malformed("ApproveContactRequest", #"{"isMyResponder":true,"iAmResponder":true}"#, [""], "contact"),
        .malformed(
            "ApproveContactRequest", #"{"contact":*,"isMyResponder":true,"iAmResponder":true}"#, notRequiredIDs,
            "contact"),
        .malformed(
            "ApproveContactRequest", #"{"contact":"<eve>","isMyResponder":*,"iAmResponder":true}"#, notRequiredFlags,
            "isMyResponder"),
        .malformed(
            "ApproveContactRequest", #"{"contact":"<eve>","isMyResponder":true,"iAmResponder":*}"#, notRequiredFlags,
            "iAmResponder"),
        .malformed("ApproveContactRequest", #"{"contact":"<eve>","isMyResponder":true}"#, [""], "iAmResponder"),
        Rule(
            "ApproveContactRequest", #"{"contact":*,"isMyResponder":true,"iAmResponder":false}"#,
            ["\"<eve>\"", "\"<nobody>\"", "\"<anna>\""], 404, "notFound", "contact"),
    ]

    static let adding: [Rule] = [
        Rule("BlockContact", #"{"contact":"<anna>"}"#, 409, "yourself", "contact"),
        Rule("BlockContact", #"{"contact":"<nobody>"}"#, 404, "notFound", "contact"),
        .malformed("AddContact", #"{"code":*,"iAmResponder":true}"#, notIDs, "code"),
        .malformed("AddContact", #"{"handle":*,"iAmResponder":true}"#, notTexts, "handle"),
        .invalid("AddContact", #"{"handle":*,"iAmResponder":true}"#, notHandles, "handle"),
        .invalid("AddContact", #"{"code":"<code>","handle":"bob","iAmResponder":true}"#, [""], "code"),
        .invalid("AddContact", #"{"code":null,"handle":null,"iAmResponder":true}"#, [""], "code"),
        Rule("AddContact", #"{"handle":"nobody-here","iAmResponder":true}"#, 404, "notFound", "handle"),
        .malformed("AddContact", #"{"handle":"eve","isMyResponder":*}"#, notFlags, "isMyResponder"),
        .malformed("AddContact", #"{"handle":"eve","iAmResponder":*}"#, notFlags, "iAmResponder"),
        Rule(
            "AddContact", #"{"handle":"eve"*}"#, ["", ",\"isMyResponder\":false,\"iAmResponder\":null"], 422,
            "roleRequired",
            "isMyResponder"),
        .malformed("AddContact", #"{"handle":"eve","iAmResponder":true,"nickname":*}"#, notTexts, "nickname"),
        .invalid("AddContact", #"{"handle":"eve","iAmResponder":true,"nickname":*}"#, misleadingLine, "nickname"),
        .invalid("AddContact", #"{"handle":"eve","iAmResponder":true,"nickname":*}"#, [text(51)], "nickname"),
        .malformed("AddContact", #"{"handle":"eve","iAmResponder":true,"notes":"tall"}"#, [""], "notes"),
        // Oneself, and who is a contact already, however it is written: the field is the one that was sent.
        Rule("AddContact", #"{"code":"<own>","iAmResponder":true}"#, 409, "yourself", "code"),
        Rule("AddContact", #"{"code":"<code>","iAmResponder":true}"#, 409, "alreadyContact", "code"),
        Rule("AddContact", #"{"handle":*,"iAmResponder":true}"#, ["\"anna\"", "\"ANNA\""], 409, "yourself", "handle"),
        Rule(
            "AddContact", #"{"handle":*,"iAmResponder":true}"#,
            ["\"bob\"", "\"BOB\"", "\" bob \"", "\"\\uFF42\\uFF4F\\uFF42\""], 409, "alreadyContact", "handle"),
    ]

    static let contact: [Rule] = [
        .malformed("UpdateContact", #"{"contact":*,"expectedVersion":1}"#, notRequiredIDs, "contact"),
        .malformed("UpdateContact", #"{"expectedVersion":1}"#, [""], "contact"),
        .malformed("UpdateContact", #"{"contact":"<bob>"}"#, [""], "expectedVersion"),
        .malformed("UpdateContact", #"{"contact":"<bob>","expectedVersion":*}"#, notNumbers, "expectedVersion"),
        Rule(
            "UpdateContact", #"{"contact":"<bob>","expectedVersion":*,"nickname":"B"}"#,
            ["0", "-1", "2", "9223372036854775807", "-9223372036854775808"], 409, "staleVersion", "expectedVersion"),
        Rule(
            "UpdateContact", #"{"contact":*,"expectedVersion":1,"nickname":"B"}"#,
            ["\"<eve>\"", "\"<anna>\"", "\"<nobody>\""], 404, "notContact", "contact"),
        .malformed("UpdateContact", #"{"contact":"<bob>","expectedVersion":1,"nickname":*}"#, notTexts, "nickname"),
        .invalid(
            "UpdateContact", #"{"contact":"<bob>","expectedVersion":1,"nickname":*}"#, misleadingLine, "nickname"),
        .invalid("UpdateContact", #"{"contact":"<bob>","expectedVersion":1,"nickname":*}"#, [text(51)], "nickname"),
        .malformed("UpdateContact", #"{"contact":"<bob>","expectedVersion":1,"notes":*}"#, notTexts, "notes"),
        .invalid("UpdateContact", #"{"contact":"<bob>","expectedVersion":1,"notes":*}"#, misleading, "notes"),
        .invalid("UpdateContact", #"{"contact":"<bob>","expectedVersion":1,"notes":*}"#, [text(1001)], "notes"),
        // Bob is a dependent and nothing else.
        Rule(
            "UpdateContact", #"{"contact":"<bob>","expectedVersion":1,"iAmResponder":false*}"#,
            ["", ",\"isMyResponder\":false"],
            422, "roleRequired", "isMyResponder"),
        .malformed("UpdateContact", #"{"contact":"<bob>","expectedVersion":1,"version":2}"#, [""], "version"),
        .malformed(
            "UpdateContact", #"{"contact":"<bob>","expectedVersion":1,"incomingPing":null}"#, [""], "incomingPing"),
        .malformed(
            "UpdateContact", #"{"contact":"<bob>","expectedVersion":1,"outgoingRoleRequest":1}"#, [""],
            "outgoingRoleRequest"),
    ]

    /// What a contact has that is on or off.
    static let flags: [Rule] = [
        "isMyResponder", "iAmResponder", "sendPings", "receivePings", "notifyOnCheckIn", "notifyOnMissedCheckIn",
    ].map { (field: String) -> Rule in
        .malformed(
            "UpdateContact", #"{"contact":"<bob>","expectedVersion":1,"\#(field)":*}"#, notFlags, field)
    }
}
