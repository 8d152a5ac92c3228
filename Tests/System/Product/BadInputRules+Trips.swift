// How each field of the commands about trips is refused.

extension BadInputTests {
    static let trips =
        Form("StartTrip", ["name": "\"Lake\"", "eta": "4102444800000000"]).refuses(
            .missing("name", "eta"),
            .malformed("name", notRequiredTexts),
            .invalid("name", misleadingLine + ["\"\"", text(61)]),
            .malformed("eta", notRequiredTimes),
            .invalid("eta", ["0", "-1", "1700000000000000", "4102444800000000", "-9223372036854775808"]),
            .malformed("note", notTexts),
            .invalid("note", misleading + [text(501)]),
            .malformed("grace", ["true", "\"600000000\"", "[]", "{}"] + notIntegers),
            .invalid("grace", ["-1", "3600000001", "9223372036854775807", "-9223372036854775808"]),
            .unknown("by", "trip", "responders"))
        + Form("ExtendTrip", ["trip": "\"<nobody>\"", "eta": "4102444800000000"]).refuses(
            .missing("trip", "eta"), .malformed("trip", notRequiredIDs), .malformed("eta", notRequiredTimes),
            .refused("trip", ["\"<nobody>\""], 404, "notFound"), .unknown("until"))
        + Form("EndTrip", ["trip": "\"<nobody>\"", "end": "\"arrived\""]).refuses(
            .missing("trip", "end"), .malformed("trip", notRequiredIDs),
            .malformed("end", ["null", "true", "1", "\"late\"", "\"\"", "[]", "{}"]), .malformed("pressed", notTimes),
            .unknown("reason"))

    static let notRequiredTimes = ["null", "true", "\"4102444800000000\"", "[]", "{}"] + notIntegers
}
