// How each field of contacts' commands is refused.

extension BadInputTests {
    /// Eve isn't a contact, nobody has such an id, and Anna asks.
    private static let strangers = ["\"<eve>\"", "\"<nobody>\"", "\"<anna>\""]

    static let approval = Form("SetContactApproval", ["isRequired": "true"]).refuses(
        .missing("isRequired"), .malformed("isRequired", notRequiredFlags), .unknown("from"))

    /// Bob is Anna's responder, and Eve isn't.
    static let pingEscalation =
        Form("SetPingEscalation", ["contact": "\"<bob>\"", "after": "3600000000"]).refuses(
            .malformed("contact", notIDs), .refused("contact", strangers, 404, "notContact"),
            .malformed("after", notTimes),
            .invalid("after", ["1", "899999999", "900000001", "86400000001", "86460000000", "-900000000"]),
            .unknown("minutes"))
        + Form("SetPingQuietHours", ["quietHours": #"{"from":0,"to":60}"#]).refuses(
            .malformed("quietHours", ["true", "1", "\"now\"", "[]"]),
            .malformed("quietHours", [#"{"to":60}"#, #"{"from":"0","to":60}"#], at: "quietHours.from"),
            .malformed("quietHours", [#"{"from":0}"#, #"{"from":0,"to":1.5}"#], at: "quietHours.to"),
            .invalid(
                "quietHours",
                [
                    #"{"from":0,"to":0}"#, #"{"from":-1,"to":60}"#, #"{"from":0,"to":1440}"#,
                    #"{"from":0,"to":1381}"#,
                ]),
            .unknown("zone"))

    /// Bob is Anna's responder, and Eve isn't.
    static let tiers = Form("SetResponderTiers", ["tiers": "[]"]).refuses(
        .missing("tiers"),
        .malformed("tiers", ["null", "true", "1", "\"now\"", "{}"]),
        .malformed("tiers", ["[1]", "[null]", "[[]]"], at: "tiers.0"),
        .malformed("tiers", [#"[{"responders":[]}]"#, #"[{"after":"1","responders":[]}]"#], at: "tiers.0.after"),
        .malformed("tiers", [#"[{"after":60000000}]"#], at: "tiers.0.responders"),
        .malformed("tiers", [#"[{"after":60000000,"responders":["bob"]}]"#], at: "tiers.0.responders.0"),
        .invalid(
            "tiers",
            [
                #"[{"after":60000000,"responders":[]}]"#,
                #"[{"after":59999999,"responders":["<bob>"]}]"#, #"[{"after":3600000001,"responders":["<bob>"]}]"#,
                #"[{"after":-60000000,"responders":["<bob>"]}]"#,
                #"[{"after":60000000,"responders":["<bob>","<bob>"]}]"#,
                #"[{"after":60000000,"responders":["<bob>"]},{"after":120000000,"responders":["<bob>"]}]"#,
                #"[{"after":120000000,"responders":["<bob>"]},{"after":60000000,"responders":["<eve>"]}]"#,
            ]),
        .refused("tiers", [#"[{"after":60000000,"responders":["<eve>"]}]"#], 404, "notContact"),
        .malformed("expectedVersion", notTimes),
        .refused("expectedVersion", neverVersions, 409, "staleVersion"),
        .unknown("delays", "version"))

    /// Commands that name an account and nothing else.
    static let naming =
        [
            "DeclineContactRequest", "WithdrawContactRequest", "RequestRoleChange", "AcceptRoleChange",
            "DeclineRoleChange", "WithdrawRoleChange", "RemoveContact", "BlockContact", "UnblockContact", "SendPing",
            "CancelPing", "RespondToPing",
        ].flatMap {
            Form($0, ["contact": "\"<bob>\""]).refuses(
                .missing("contact"), .malformed("contact", notRequiredIDs), .unknown("reason"),
                .malformed(bodies: [#"{"Contact":"<bob>"}"#], at: "contact"))
        }
        + [
            "RequestRoleChange", "AcceptRoleChange", "DeclineRoleChange", "WithdrawRoleChange", "RemoveContact",
            "SendPing", "CancelPing", "RespondToPing",
        ].flatMap { Form($0).refuses(.refused("contact", strangers, 404, "notContact")) }
        + Form("RespondToPing", ["contact": "\"<bob>\""]).refuses(
            .malformed("sent", notTimes), .malformed("pressed", notTimes))
        + ["DeclineContactRequest", "WithdrawContactRequest", "UnblockContact"].flatMap {
            Form($0).refuses(.refused("contact", strangers, 404, "notFound"))
        }
        + Form("BlockContact").refuses(.refused("contact", ["\"<anna>\""], 409, "yourself"))

    /// Nobody asked Anna for anything.
    static let approving = Form(
        "ApproveContactRequest", ["contact": "\"<eve>\"", "isMyResponder": "true", "iAmResponder": "true"]
    ).refuses(
        .missing("contact", "iAmResponder"),
        .malformed("contact", notRequiredIDs),
        .malformed("isMyResponder", notRequiredFlags),
        .malformed("iAmResponder", notRequiredFlags),
        .refused("contact", strangers, 404, "notFound"))

    static let adding =
        Form("AddContact", ["handle": "\"eve\"", "iAmResponder": "true"]).refuses(
            .malformed("handle", notTexts),
            .invalid("handle", notHandles),
            .malformed("isMyResponder", notFlags),
            .malformed("iAmResponder", notFlags),
            .malformed("nickname", notTexts),
            .invalid("nickname", misleadingLine + [text(51)]),
            .unknown("notes"),
            .refused("handle", ["\"nobody-here\""], 404, "notFound"),
            .refused("iAmResponder", ["null", "false"], 422, "roleRequired", at: "isMyResponder"),
            // Oneself, and an existing contact, however it is written.
            .refused("handle", ["\"anna\"", "\"ANNA\""], 409, "yourself"),
            .refused(
                "handle", ["\"bob\"", "\"BOB\"", "\" bob \"", "\"\\uFF42\\uFF4F\\uFF42\""], 409, "alreadyContact"))
        + Form("AddContact", ["code": "\"<code>\"", "iAmResponder": "true"]).refuses(
            .malformed("code", notIDs),
            .refused("code", ["\"<own>\""], 409, "yourself"),
            .refused("code", ["\"<code>\""], 409, "alreadyContact"),
            // One way to name the person, not two and not none.
            .invalid("handle", ["\"bob\""], at: "code"),
            .invalid("code", ["null"]))

    static let updating = Form(
        "UpdateContact", ["contact": "\"<bob>\"", "expectedVersion": "1", "nickname": "\"B\""]
    ).refuses(
        .missing("contact", "expectedVersion"),
        .malformed("contact", notRequiredIDs),
        .refused("contact", strangers, 404, "notContact"),
        .malformed("expectedVersion", notNumbers),
        .refused("expectedVersion", staleVersions, 409, "staleVersion"),
        .malformed("nickname", notTexts),
        .invalid("nickname", misleadingLine + [text(51)]),
        .malformed("notes", notTexts),
        .invalid("notes", misleading + [text(1001)]),
        .malformed("isMyResponder", notFlags),
        .malformed("iAmResponder", notFlags),
        .malformed("sendPings", notFlags),
        .malformed("receivePings", notFlags),
        .malformed("notifyOnCheckIn", notFlags),
        .malformed("notifyOnMissedCheckIn", notFlags),
        // Anna is Bob's responder, and he isn't hers.
        .refused("iAmResponder", ["false"], 422, "roleRequired", at: "isMyResponder"),
        .unknown("version", "incomingPing", "outgoingRoleRequest"))
}
