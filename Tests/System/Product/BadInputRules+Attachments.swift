// How each field of the commands about attachments is refused.

extension BadInputTests {
    private static let hash = "\"\(String(repeating: "0123456789abcdef", count: 4))\""

    private static let notHashes = [
        "1", "true", "[]", "{}", "null", "\"\"", "\"<nobody>\"", text(63), text(65),
        "\"\(String(repeating: "0123456789ABCDEF", count: 4))\"", "\"\(String(repeating: "g", count: 64))\"",
    ]

    /// Nobody began an attachment in `<group>`.
    static let attaching = beginning + adopting + completing + removing

    private static func form(_ command: String, _ fields: KeyValuePairs<String, String> = [:]) -> Form {
        let about = [(name: "group", value: "\"<group>\""), (name: "attachment", value: hash)]
        return Form(command, about + fields.map { (name: $0.key, value: $0.value) })
    }

    private static func common(_ form: Form) -> [Rule] {
        notGroups.flatMap { form.refuses($0) }
            + form.refuses(.missing("attachment"), .malformed("attachment", notHashes), .unknown("account", "content"))
    }

    private static let begin = form("BeginAttachment", ["size": "1"])
    private static let beginning =
        common(begin)
        + begin.refuses(
            .missing("size"), .malformed("size", notNumbers),
            .invalid("size", ["0", "-1", "104857601", "9223372036854775807"]))

    private static let adopt = form("AdoptChunks", ["first": "0", "count": "1"])
    private static let adopting =
        common(adopt)
        + adopt.refuses(
            .missing("first", "count"), .malformed("first", notNumbers), .malformed("count", notNumbers),
            .invalid("first", ["-1", "1600", "9223372036854775807", "-9223372036854775808"]),
            .invalid("count", ["0", "-1", "65", "9223372036854775807"]),
            .refused("attachment", [hash], 404, "attachmentNotFound"))

    private static let complete = form(
        "CompleteAttachment", ["chunks": "1", "name": "\"film.mp4\"", "contentType": "\"video/mp4\""])
    private static let completing =
        common(complete)
        + complete.refuses(
            .missing("chunks", "name", "contentType"), .malformed("chunks", notNumbers),
            .invalid("chunks", ["0", "-1", "1601", "9223372036854775807"]),
            .malformed("name", notRequiredTexts),
            .invalid("name", misleadingLine + ["\"\"", "\"a/b\"", "\"a\\\\b\"", "\".\"", "\"..\"", text(256)]),
            .malformed("contentType", notRequiredTexts),
            .invalid(
                "contentType",
                [
                    "\"\"", "\"text\"", "\"text/\"", "\"/html\"", "\"Text/html\"", "\"text/html; charset=utf-8\"",
                    "\"text/html\\r\\nX: y\"", "\"a/\(String(repeating: "b", count: 64))\"",
                ]),
            .invalid("metadata", ["1", "true", "\"text\"", "[]", "{\"a\":\(text(4089))}"]),
            .refused("attachment", [hash], 404, "attachmentNotFound"))

    private static let remove = form("RemoveAttachment")
    private static let removing =
        common(remove) + remove.refuses(.refused("attachment", [hash], 404, "attachmentNotFound"))
}
