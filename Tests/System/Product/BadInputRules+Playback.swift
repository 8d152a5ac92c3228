// How each field of the commands about shared playback is refused.

extension BadInputTests {
    /// In `<group>` nothing plays, the queue is empty, and Anna hasn't said that she can be ready.
    static let playback = setting + choosing + queueing + waiting

    private static let notOptionalNumbers = notNumbers.filter { $0 != "null" }
    private static let notPositions: [Refusal] = [
        .malformed("position", notOptionalNumbers),
        .invalid("position", ["-1", "2592000000001", "9223372036854775807", "-9223372036854775808"]),
    ]
    private static let notLeads: [Refusal] = [
        .malformed("lead", notOptionalNumbers), .invalid("lead", ["-1", "10000001", "9223372036854775807"]),
    ]
    private static let notCurrent: [Refusal] = [
        .malformed("expectedItem", notIDs), .refused("expectedItem", ["\"<nobody>\""], 409, "itemChanged"),
    ]
    /// Neighbours that are no ids, or the item itself.
    private static let notNeighbours: [Refusal] = ["after", "before"].flatMap { field -> [Refusal] in
        [.malformed(field, notIDs), .invalid(field, ["\"<nobody>\""])]
    }

    private static func rules(_ form: Form, _ refusals: [Refusal]...) -> [Rule] {
        (notGroups + refusals.flatMap { $0 }).flatMap { form.refuses($0) }
    }

    private static let setting = rules(
        Form("SetPlayback", ["group": "\"<group>\"", "expectedItem": "\"<nobody>\"", "position": "0"]),
        notCurrent, notPositions, notLeads,
        [
            .missing("expectedItem"), .malformed("expectedItem", ["null"]),
            .malformed("expectedVersion", notOptionalNumbers), .malformed("isPlaying", notFlags),
            .malformed(
                "rate",
                ["true", "\"1\"", "[]", "{}", "0", "0.249", "-1", "4.001", "1.0001", "1e400", "9223372036854775808"]),
            .unknown("item", "version", "author"),
            .refused(
                bodies: ["{\"group\":\"<group>\",\"expectedItem\":\"<nobody>\"}"], 422, "invalidField", at: "isPlaying"),
            .refused(
                bodies: ["{\"group\":\"<group>\",\"expectedItem\":\"<nobody>\",\"isPlaying\":false,\"lead\":0}"], 422,
                "invalidField", at: "lead"),
        ])

    private static let choosing =
        rules(
            Form("PlayItem", ["group": "\"<group>\"", "item": item()]),
            notCurrent, notPositions, notLeads, notItems("item", at: "item") { $0 },
            [
                .missing("item"), .malformed("item", ["null", "1", "true", "\"<nobody>\"", "[]"]),
                .malformed("isPlaying", notFlags), .unknown("rate", "title"),
            ])
        + rules(
            Form("NextItem", ["group": "\"<group>\""]), notCurrent, notLeads, [.unknown("item", "position")])

    private static let queueing =
        rules(
            Form("QueueInsert", ["group": "\"<group>\"", "items": "[\(item())]"]),
            notNeighbours, notItems("items", at: "items.0") { "[\($0)]" },
            [
                .missing("items"), .malformed("items", ["null", "1", "true", "\"<nobody>\"", "{}"]),
                .malformed("items", ["[null]", "[1]", "[\"<nobody>\"]"], at: "items.0"),
                .invalid(
                    "items",
                    [
                        "[]", "[\(item()),\(item())]",
                        "[\((0..<26).map { _ in item() }.joined(separator: ","))]",
                    ]), .unknown("index", "rank"),
            ])
        + rules(
            Form("QueueMove", ["group": "\"<group>\"", "item": "\"<nobody>\""]), notNeighbours,
            [
                .missing("item"), .malformed("item", notRequiredIDs),
                .refused("item", ["\"<nobody>\""], 404, "itemNotFound"), .unknown("index"),
            ])
        + rules(
            Form("QueueRemove", ["group": "\"<group>\"", "items": "[\"<nobody>\"]"]),
            [
                .missing("items"), .malformed("items", ["null", "1", "true", "\"<nobody>\"", "{}"]),
                .malformed("items", notRequiredIDs.map { "[\($0)]" }, at: "items.0"),
                .invalid("items", ["[]", many("<nobody>", 2), many("<nobody>", 101)]), .unknown("item"),
            ])

    private static let waiting =
        rules(Form("DeclareReadiness", ["group": "\"<group>\""]), [.unknown("isReady", "participant")])
        + rules(
            Form("BeginSuspension", ["group": "\"<group>\"", "reason": "\"stalled\""]),
            [
                .missing("reason"),
                .malformed("reason", notRequiredTexts + ["\"\"", "\"Stalled\"", "\"other\""]),
                .malformed("duration", notOptionalNumbers),
                .invalid("duration", ["0", "999999", "30000001", "-1", "9223372036854775807"]),
                .malformed("participantLimit", notOptionalNumbers),
                .invalid("participantLimit", ["0", "-1", "101", "9223372036854775807"]),
                .unknown("until", "participant"),
                .refused(bodies: ["{\"group\":\"<group>\",\"reason\":\"stalled\"}"], 409, "notReady"),
            ])
        + rules(
            Form("EndSuspension", ["group": "\"<group>\"", "item": "\"<nobody>\""]), notPositions,
            [
                .malformed("item", notIDs), .unknown("participant"),
                .refused(bodies: ["{\"group\":\"<group>\",\"position\":0}"], 422, "invalidField", at: "item"),
            ])

    /// An item that is good, but for one of its fields.
    private static func item(_ name: String = "title", _ value: String = "\"Song\"") -> String {
        let fields = [("id", "\"<nobody>\""), ("title", "\"Song\"")].filter { $0.0 != name } + [(name, value)]
        return "{\(fields.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ","))}"
    }

    /// Items that are no good, in a field that takes them in some form.
    private static func notItems(_ field: String, at path: String, _ form: (String) -> String) -> [Refusal] {
        let malformed = [
            ("id", notRequiredIDs), ("title", notRequiredTexts), ("content", notTexts), ("artworkURL", notTexts),
            ("duration", notOptionalNumbers), ("artist", ["\"Anna\""]),
        ]
        let invalid = [
            ("title", misleadingLine + ["\"\"", text(201)]), ("content", misleadingLine + ["\"\"", text(257)]),
            (
                "artworkURL",
                [
                    "\"\"", "\"http://example.org\"", "\"https://\"", "\"https://a b\"", "\"javascript:alert(1)\"",
                    "\"https://\(String(repeating: "a", count: 1017))\"",
                ]
            ), ("duration", ["0", "-1", "2592000000001", "9223372036854775807"]),
        ]
        return malformed.map { name, values in
            .malformed(field, values.map { form(item(name, $0)) }, at: "\(path).\(name)")
        }
            + invalid.map { name, values in
                .invalid(field, values.map { form(item(name, $0)) }, at: "\(path).\(name)")
            }
    }
}
