// How each field of session's and notifications' commands is refused.

extension BadInputTests {
    // MARK: Session's commands

    static let profile = Form("UpdateProfile", ["expectedVersion": "1", "name": "\"Anne\""]).refuses(
        .malformed("expectedVersion", notNumbers),
        .refused("expectedVersion", staleVersions, 409, "staleVersion"),
        .malformed("name", notTexts),
        .invalid("name", notNames),
        .malformed("emergencyNote", notTexts),
        // The last one has few characters, of many bytes each.
        .invalid("emergencyNote", misleading + ["\"\(String(repeating: "👨‍👩‍👧‍👦", count: 641))\""]),
        .unknown("Name", "profileVersion", "handle"),
        // The first of several in the order of their names, each time the same.
        .malformed(bodies: [#"{"expectedVersion":1,"b":1,"a":1,"c":1}"#], at: "a"),
        // U+0000 is refused before anyone looks at the fields.
        .refused(bodies: [#"{"expectedVersion":1,"name":"An\u0000na"}"#], 422, "invalidField"))

    static let checkIns =
        Form("SetCheckInInterval", ["interval": "3600000000"]).refuses(
            .missing("interval"),
            .malformed("interval", ["null", "true", "\"3600000000\"", "[]", "{}"] + notIntegers),
            .invalid(
                "interval",
                [
                    "0", "-1", "3599999999", "604800000001", "-3600000000", "9223372036854775807",
                    "-9223372036854775808",
                ]),
            .malformed("expectedVersion", notTimes),
            .refused("expectedVersion", neverVersions, 409, "staleVersion"),
            .unknown("unit", "version"))
        + Form("SetCheckInGrace", ["grace": "600000000"]).refuses(
            .missing("grace"),
            .malformed("grace", ["null", "true", "\"600000000\"", "[]", "{}"] + notIntegers),
            .invalid("grace", ["-1", "3600000001", "9223372036854775807", "-9223372036854775808"]),
            .unknown("unit"))
        + Form(
            "SetDailyCheckIns", ["times": "[480,1200]", "weekdays": "[\"monday\"]", "zone": "\"Europe/Berlin\""]
        ).refuses(
            .missing("times", "weekdays", "zone"),
            .malformed("times", ["null", "true", "480", "\"480\"", "{}"]),
            .malformed("times", ["[\"08:00\"]", "[null]", "[[]]", "[1.5]"], at: "times.0"),
            .invalid(
                "times",
                ["[]", "[-1]", "[1440]", "[480,539]", "[0,1381]", "[480,480]", "[0,100,200,300,400]"]),
            .malformed("weekdays", ["null", "true", "1", "\"monday\"", "{}"]),
            .malformed("weekdays", ["[1]", "[null]", "[\"Monday\"]", "[\"\"]"], at: "weekdays.0"),
            .invalid("weekdays", ["[]", "[\"monday\",\"monday\"]"]),
            .malformed("zone", notRequiredTexts),
            .invalid(
                "zone",
                [
                    "\"\"", "\"Europe/Nowhere\"", "\"europe/berlin\"", "\"../../etc/passwd\"", "\"/Europe/Berlin\"",
                    "\"Europe//Berlin\"", "\"\(String(repeating: "Z", count: 65))\"",
                ]),
            .malformed("expectedVersion", notTimes),
            .refused("expectedVersion", neverVersions, 409, "staleVersion"),
            .unknown("interval", "version"))
        + Form("PauseCheckIns", ["until": "4102444800000000"]).refuses(
            .missing("until"),
            .malformed("until", ["null", "true", "\"4102444800000000\"", "[]", "{}"] + notIntegers),
            .invalid("until", ["0", "-1", "1700000000000000", "-9223372036854775808"]),
            .unknown("by"))
        + Form("SetCheckInReminders", ["reminders": "[]"]).refuses(
            .missing("reminders"),
            .malformed("reminders", ["null", "true", "1", "\"twoHours\"", "{}"]),
            .malformed("reminders", ["[1]", "[null]", "[[]]", "[\"TwoHours\"]", "[\"\"]"], at: "reminders.0"),
            .malformed("reminders", ["[\"twoHours\",\"oneDay\"]"], at: "reminders.1"),
            .invalid("reminders", [many("twoHours", 2), "[\"twoHours\",\"thirtyMinutes\",\"twoHours\"]"]),
            .unknown("lead"))

    /// Times that may be left out.
    static let notTimes = notNumbers.filter { $0 != "null" }

    static let alerts =
        Form("RaiseAlert").refuses(
            .malformed(bodies: notObjects), .malformed("pressed", notTimes), .unknown("alarm", "at"))
        + Form("ClearAlert").refuses(
            .malformed(bodies: notObjects), .malformed("alarm", notIDs), .malformed("pressed", notTimes),
            .unknown("at", "code"))

    /// Commands without fields.
    static let bare = [
        "CheckIn", "ResumeCheckIns", "RunDrill", "ResetContactCode", "RemovePhone", "UnregisterPush",
    ].flatMap { Form($0).refuses(.malformed(bodies: notObjects), .unknown("at", "code")) }

    // MARK: Notifications' commands

    static let reading =
        Form("MarkAllRead").refuses(
            .malformed(bodies: notObjects), .malformed("upTo", notTimes), .unknown("at", "code"))
        // The notification is Bob's.
        + Form("MarkRead", ["id": "\"<told>\""]).refuses(
            .missing("id"), .malformed("id", notRequiredIDs), .refused("id", ["\"<told>\""], 404, "notFound"),
            .unknown("at"))
        + Form("AnswerDrill", ["id": "\"<told>\""]).refuses(
            .missing("id"), .malformed("id", notRequiredIDs), .refused("id", ["\"<told>\""], 404, "notFound"),
            .unknown("at"))
        + Form("ShowNotifications", ["ids": "[\"<told>\"]"]).refuses(
            .missing("ids"),
            .malformed("ids", ["null", "1", "true", "\"all\"", "{}"]),
            .malformed("ids", notRequiredIDs.map { "[\($0)]" }, at: "ids.0"),
            .invalid("ids", ["[]"]),
            .malformed("shown", notTimes),
            // The token says which device it is.
            .unknown("device"))

    static let reminders =
        Form(
            "ScheduleReminder",
            ["id": "\"019ceb5b-fc00-7368-9481-20db36c92a0f\"", "text": "\"Tea\"", "due": "4102444800000000"]
        ).refuses(
            .missing("id", "text", "due"),
            .malformed("id", notRequiredIDs),
            // What is derived from a cause could be the id of another notification.
            .invalid("id", ["\"019ceb5b-fc00-8368-9481-20db36c92a0f\"", "\"<told>\""]),
            .malformed("text", notRequiredTexts),
            .invalid("text", misleadingLine + ["\"\"", text(201)]),
            .malformed("due", notRequiredTimes),
            .invalid("due", ["0", "-1", "1700000000000000", "4102444800000000", "-9223372036854775808"]),
            .unknown("account", "contact", "kind", "at"))
        + Form("CancelReminder", ["id": "\"<told>\""]).refuses(
            .missing("id"), .malformed("id", notRequiredIDs), .unknown("at", "text"))

    static let clearing = Form("ClearNotifications", ["selection": "{\"everything\":true}"]).refuses(
        .missing("selection"),
        .malformed("selection", ["null", "1", "true", "\"all\"", "[]"]),
        .unknown("all"),
        .invalid(
            "selection",
            [
                "{\"everything\":false}", "{\"category\":null}", "{\"occurredBy\":1}",
                "{\"everything\":true,\"kinds\":[\"system\"]}", "{\"everything\":true,\"subjects\":[\"<bob>\"]}",
                "{\"everything\":true,\"ids\":[\"<told>\"]}", "{\"everything\":true,\"category\":\"alerts\"}",
            ]),
        selecting("ids", .malformed, ["1", "true", "\"<told>\"", "{}"]),
        selecting("ids", .malformed, ["[5]", "[null]", "[\"x\"]", "[[]]"], at: "ids.0"),
        selecting("ids", .invalid, ["[]", many("<told>", 2), many("<told>", 501)]),
        selecting("kinds", .malformed, ["1", "true", "\"system\"", "{}"]),
        selecting("kinds", .malformed, ["[1]", "[null]", "[\"System\"]", "[\"\"]"], at: "kinds.0"),
        // Each kind once.
        selecting("kinds", .invalid, ["[]", many("system", 25), many("system", 2)]),
        selecting("category", .malformed, ["1", "true", "[]", "\"all\"", "\"Alerts\""]),
        selecting("subjects", .malformed, notRequiredIDs.map { "[\($0)]" }, at: "subjects.0"),
        selecting("subjects", .invalid, ["[]"]),
        selecting("groups", .malformed, notRequiredIDs.map { "[\($0)]" }, at: "groups.0"),
        selecting("groups", .invalid, ["[]", many("<group>", 2), many("<group>", 101)]),
        selecting("everything", .malformed, notFlags),
        .malformed(
            "selection",
            (["true", "\"now\"", "[]", "{}"] + notIntegers).map { "{\"everything\":true,\"occurredBy\":\($0)}" },
            at: "selection.occurredBy"))

    private enum Sort { case malformed, invalid }

    /// Values that a selection of notifications can't have in a field.
    private static func selecting(_ field: String, _ sort: Sort, _ values: [String], at path: String? = nil) -> Refusal
    {
        let selections = values.map { "{\"\(field)\":\($0)}" }
        let path = "selection.\(path ?? field)"
        return switch sort {
        case .malformed: .malformed("selection", selections, at: path)
        case .invalid: .invalid("selection", selections, at: path)
        }
    }
}
