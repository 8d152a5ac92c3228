import Testing

@testable import Bus

@Suite
struct FlushPaceTests {
    private static func pace(_ answers: Duration..., times: Int = 500) -> FlushPace {
        var pace = FlushPace()
        for _ in 0..<times { for answer in answers { pace.answered(after: answer) } }
        return pace
    }

    @Test("flushes keep no distance at first, nor while commands are answered fast")
    func atRest() {
        #expect(FlushPace().distance == .zero)
        #expect(Self.pace(.milliseconds(1)).distance == .zero)
    }

    @Test("flushes keep a quarter of an answer's time apart while answers take longer")
    func busy() {
        let distance = Self.pace(.milliseconds(8)).distance
        #expect(distance > .microseconds(1950) && distance <= .milliseconds(2))
    }

    @Test("however long answers took, flushes keep at most ten milliseconds apart, and soon none again")
    func stalled() {
        var pace = Self.pace(.seconds(30))
        #expect(pace.distance == FlushPace.limit)
        for _ in 0..<200 { pace.answered(after: .milliseconds(1)) }
        #expect(pace.distance == .zero)
    }
}
