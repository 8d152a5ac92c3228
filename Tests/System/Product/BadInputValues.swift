// Values that are refused, as JSON.

extension BadInputTests {
    static let notTexts = ["1", "true", "[]", "{}"]
    static let notRequiredTexts = notTexts + ["null"]
    static let notFlags = ["1", "0", "\"true\"", "[]", "{}"]
    static let notRequiredFlags = notFlags + ["null"]
    /// Fractions, and more than 64 bits.
    static let notIntegers = ["1.5", "9223372036854775808", "-9223372036854775809", "1e400"]
    static let notNumbers = ["null", "true", "\"1\"", "[]", "{}"] + notIntegers
    static let notIDs = [
        "1", "true", "[]", "{}", "\"\"", "\"me\"", "\"01a1fc7460f58a3d8f588ea58e860fb8\"",
        "\"{01a1fc74-60f5-8a3d-8f58-8ea58e860fb8}\"", "\"01a1fc74-60f5-8a3d-8f58-8ea58e860fb\"",
        "\"01a1fc74-60f5-8a3d-8f58-8ea58e860fb8 \"", "\"01a1fc74-60f5-8a3d-8f58-8ea58e860fbg\"",
        "\"01a1fc74_60f5_8a3d_8f58_8ea58e860fb8\"",
    ]
    static let notRequiredIDs = notIDs + ["null"]
    static let notObjects = ["[]", "null", "5", "\"text\"", "true"]
    /// Versions that nothing ever has.
    static let neverVersions = ["-1", "9223372036854775807", "-9223372036854775808"]
    /// Versions that aren't the current one, 1.
    static let staleVersions = ["0", "-1", "2", "9223372036854775807", "-9223372036854775808"]

    /// Control characters, marks that turn the direction of the text around, invisible letters, and heaps of accents.
    static let misleading =
        [
            "\\u202E", "\\u2066", "\\u2069", "\\u200E", "\\u200F", "\\u061C", "\\uFEFF", "\\u0007", "\\u000D",
            "\\u001B[31m", "\\u007F", "\\u0085", "\\u2028", "\\u2029", "\\uE000", "\\u0378", "\\u200B", "\\u2060",
            "\\u00AD", "\\u3164", "\\u115F", "\\u2800", "\\uFFFE", "\\uFFF9",
        ].map { "\"a\($0)b\"" } + ["\"a\(String(repeating: "\\u0301", count: 60))\""]
    /// The same where there is one line.
    static let misleadingLine = misleading + ["\"a\\nb\"", "\"a\\tb\""]

    /// Digits, signs, invisible letters or none at all; too short and too long.
    static let notNames = [
        "\"Anna1\"", "\"An\\uD83D\\uDE00na\"", "\"An\\u200Dna\"", "\"An\\u200Bna\"", "\"An\\uFEFFna\"",
        "\"An\\u2066na\"",
        "\"An\\u200Fna\"", "\"An\\u00ADna\"", "\"An\\u00A0na\"", "\"An\\nna\"", "\"An\\tna\"", "\"An\\u2028na\"",
        "\"    \"",
        "\"--\"", "\"''\"", "\"<b>Anna\"", "\"Anna_\"", "\" A \"", "\"\\u0301\\u0301\"", "\"\\u200B\\u200B\"",
        "\"\\u3164\\u3164\"",
        "\"A\(String(repeating: "\\u0301", count: 60))nna\"", "\"\(String(repeating: "a", count: 1601))\"",
    ]

    /// Too short or too long, a wrong beginning or end, other signs, letters that only look right, and names that could be
    /// taken for the operators'.
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

    /// Malformed, of another account, and an access token.
    static let notRefreshTokens = [
        "\"\"", "\"x\"", "\"a.b.c.d\"", "\"...\"", text(600), "\"<forged>\"", "\"<token>\"",
    ]

    /// Not in E.164.
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

    static func many(_ text: String, _ count: Int) -> String {
        "[\(Array(repeating: "\"\(text)\"", count: count).joined(separator: ","))]"
    }
}
