import EdgeClient
import RPCClient

extension Scenario {
    /// What it comes to over each carrier. They are played side by side, by people of their own.
    func transcripts(over carriers: [any Carrier], beside edge: EdgeClient) async -> [[String]] {
        await withTaskGroup(of: (Int, [String]).self) { group in
            for (index, carrier) in carriers.enumerated() {
                group.addTask { (index, await self.transcript(over: carrier, beside: edge)) }
            }
            var transcripts = Array(repeating: [String](), count: carriers.count)
            for await (index, lines) in group { transcripts[index] = lines }
            return transcripts
        }
    }

    private func transcript(over carrier: any Carrier, beside edge: EdgeClient) async -> [String] {
        let stage = Stage(carrier, beside: edge)
        defer { stage.clear() }
        do {
            try await play(stage)
            return stage.lines
        } catch {
            return stage.lines + ["it broke off: \(error)"]
        }
    }
}
