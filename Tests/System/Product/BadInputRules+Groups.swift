// How each field of the commands about group sessions is refused.

extension BadInputTests {
    /// Anna is the host of `<group>`, has seat 0 there and plays; `<foreign>` is Eve's.
    static let groups = creating + attending + hosting + playing + messaging

    static let notGroups: [Refusal] = [
        .missing("group"), .malformed("group", notRequiredIDs),
        .refused("group", ["\"<nobody>\"", "\"<foreign>\""], 404, "groupNotFound"),
    ]

    private static let creating = Form(
        "CreateGroupSession", ["activity": activity]
    ).refuses(
        .missing("activity"),
        .malformed("activity", ["null", "1", "true", "\"chess\"", "[]"]),
        activity(.malformed, "identifier", notRequiredTexts),
        activity(
            .invalid, "identifier",
            ["\"\"", "\"-a\"", "\".a\"", "\"a b\"", "\"a/b\"", "\"\\u00E4\"", "\"a\\u200B\"", text(129)]),
        .malformed("activity", ["{\"identifier\":\"a\",\"title\":\"A\"}"], at: "activity.type"),
        activity(.malformed, "title", notRequiredTexts),
        activity(.invalid, "title", misleadingLine + ["\"\"", text(201)]),
        activity(.malformed, "subtitle", notTexts),
        activity(.invalid, "subtitle", misleadingLine + ["\"\"", text(201)]),
        activity(.malformed, "type", ["1", "true", "[]", "{}", "null", "\"\"", "\"Generic\"", "\"other\""]),
        activity(.malformed, "fallbackURL", notTexts),
        activity(
            .invalid, "fallbackURL",
            [
                "\"\"", "\"http://example.org\"", "\"https://\"", "\"https://a b\"", "\"ftp://example.org\"",
                "\"javascript:alert(1)\"", "\"https://\(String(repeating: "a", count: 2048))\"",
            ]),
        activity(.invalid, "payload", [text(32_767), "[\(String(repeating: "0,", count: 16_384))0]"]),
        activity(.malformed, "Title", ["\"Chess\""]),
        .malformed("capacity", notNumbers.filter { $0 != "null" }),
        .invalid("capacity", ["0", "-1", "101", "9223372036854775807"]),
        .malformed("seats", notNumbers.filter { $0 != "null" }),
        .invalid("seats", ["-1", "33", "9223372036854775807"]),
        .malformed("isOpenToContacts", notFlags),
        // The server makes the id.
        .unknown("group", "host", "account"))

    private static let fields = [
        ("identifier", "\"org.example.chess\""), ("type", "\"generic\""), ("title", "\"Chess\""),
    ]
    private static let activity = activity(fields)

    private static func activity(_ fields: [(String, String)]) -> String {
        "{\(fields.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ","))}"
    }

    private enum Sort { case malformed, invalid }

    /// Values that a field of the activity can't have.
    private static func activity(_ sort: Sort, _ field: String, _ values: [String]) -> Refusal {
        let activities = values.map { value in
            activity(fields.filter { $0.0 != field } + [(field, value)])
        }
        return switch sort {
        case .malformed: .malformed("activity", activities, at: "activity.\(field)")
        case .invalid: .invalid("activity", activities, at: "activity.\(field)")
        }
    }

    private static let attending = ["JoinGroupSession", "LeaveGroupSession", "EndGroupSession"].flatMap { command in
        notGroups.flatMap { Form(command, ["group": "\"<group>\""]).refuses($0) }
            + Form(command, ["group": "\"<group>\""]).refuses(.unknown("contactOf", "account"))
    }

    private static let hosting =
        notGroups.flatMap {
            Form("ActivateGroupSession", ["group": "\"<group>\"", "contacts": "[\"<bob>\"]"]).refuses($0)
        }
        + Form("ActivateGroupSession", ["group": "\"<group>\"", "contacts": "[\"<bob>\"]"]).refuses(
            .missing("contacts"),
            .malformed("contacts", ["null", "1", "true", "\"<bob>\"", "{}"]),
            .malformed("contacts", notRequiredIDs.map { "[\($0)]" }, at: "contacts.0"),
            .invalid("contacts", ["[]", many("<bob>", 2), many("<bob>", 101)]),
            .refused(
                "contacts", ["[\"<eve>\"]", "[\"<bob>\",\"<eve>\"]", "[\"<nobody>\"]", "[\"<anna>\"]"], 404,
                "notContact"),
            .unknown("host"))
        + [("RemoveParticipant", "participant"), ("TransferHost", "to")].flatMap { command, field in
            notGroups.flatMap { Form(command, ["group": "\"<group>\"", field: "\"<bob>\""]).refuses($0) }
                + Form(command, ["group": "\"<group>\"", field: "\"<bob>\""]).refuses(
                    .missing(field), .malformed(field, notRequiredIDs), .unknown("by"),
                    .refused(field, ["\"<bob>\"", "\"<eve>\"", "\"<nobody>\""], 404, "participantNotFound"))
        }
        + Form("RemoveParticipant", ["group": "\"<group>\"", "participant": "\"<bob>\""]).refuses(
            .invalid("participant", ["\"<anna>\""]))

    private static let messaging =
        notGroups.flatMap { Form("SendGroupMessage", ["group": "\"<group>\"", "type": "\"x\""]).refuses($0) }
        + Form("SendGroupMessage", ["group": "\"<group>\"", "type": "\"x\""]).refuses(
            .missing("type"), .malformed("type", notRequiredTexts),
            .invalid("type", ["\"\"", "\".a\"", "\"a b\"", "\"\\u00E4\"", text(65)]),
            .malformed("to", ["1", "true", "\"<anna>\"", "{}"]),
            .malformed("to", notRequiredIDs.map { "[\($0)]" }, at: "to.0"),
            .invalid("to", ["[]", many("<anna>", 2), many("<anna>", 101)]),
            .refused("to", ["[\"<bob>\"]", "[\"<anna>\",\"<nobody>\"]"], 404, "participantNotFound"),
            .refused("data", [text(44_999), "[\(text(22_500)),\(text(22_500))]"], 413, "messageTooLarge"),
            .unknown("number", "sender", "account"))
        + Form("SendGroupMessage", ["group": "\"<group>\"", "type": "\"text\"", "data": "{\"text\":\"a\"}"]).refuses(
            .invalid("data", ["{}", "{\"text\":1}"], at: "data.text"), .invalid("data", ["1", "[]"]))

    private static let notDocuments = ["1", "true", "\"text\"", "[]"]
    /// One byte more than there may be.
    private static let tooLarge = "{\"a\":\(text(32_761))}"

    private static let playing =
        ["ClaimSeat", "MoveSeat"].flatMap { command in
            notGroups.flatMap { Form(command, ["group": "\"<group>\"", "seat": "1"]).refuses($0) }
                + Form(command, ["group": "\"<group>\"", "seat": "1"]).refuses(
                    .missing("seat"), .malformed("seat", notNumbers), .unknown("participant"),
                    .refused("seat", ["-1", "5", "9223372036854775807"], 404, "seatNotFound"))
        }
        + notGroups.flatMap { Form("ReleaseSeat", ["group": "\"<group>\""]).refuses($0) }
        + Form("ReleaseSeat", ["group": "\"<group>\""]).refuses(
            .malformed("participant", notIDs), .unknown("seat"),
            .refused("participant", ["\"<bob>\"", "\"<nobody>\""], 404, "participantNotFound"))
        + notGroups.flatMap { Form("StartGame", ["group": "\"<group>\""]).refuses($0) }
        + Form("StartGame", ["group": "\"<group>\""]).refuses(
            .invalid("state", notDocuments + [tooLarge]),
            .malformed("turnField", notTexts), .invalid("turnField", ["\"\"", text(65)]),
            .malformed("lead", ["true", "\"1\"", "[]", "{}"] + notIntegers),
            .invalid("lead", ["-1", "60000001", "9223372036854775807"]), .unknown("starts", "version"))
        + notGroups.flatMap {
            Form("UpdateGame", ["group": "\"<group>\"", "expectedVersion": "1", "patch": "{}"]).refuses($0)
        }
        + Form("UpdateGame", ["group": "\"<group>\"", "expectedVersion": "1", "patch": "{}"]).refuses(
            .missing("expectedVersion"), .malformed("expectedVersion", notNumbers),
            .refused("expectedVersion", staleVersions, 409, "staleVersion"),
            .invalid("patch", notDocuments + [tooLarge]), .unknown("author", "turnField"),
            // Together with a patch.
            .invalid("state", ["{}"]))
        + Form("UpdateGame", ["group": "\"<group>\"", "expectedVersion": "1", "state": "{}"]).refuses(
            .invalid("state", notDocuments + [tooLarge, "null"]))
        + notGroups.flatMap { Form("FinishGame", ["group": "\"<group>\"", "expectedVersion": "1"]).refuses($0) }
        + Form("FinishGame", ["group": "\"<group>\"", "expectedVersion": "1"]).refuses(
            .missing("expectedVersion"), .malformed("expectedVersion", notNumbers),
            .refused("expectedVersion", staleVersions, 409, "staleVersion"), .unknown("winner"))
}
