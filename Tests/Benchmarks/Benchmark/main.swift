import Foundation

// Measures the product and this machine's limits in one run. Started by Tests/Benchmarks/run.sh, which makes the scratch
// server; says what it does on stderr, the table on stdout, and the figures as JSON into a file.

if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "compare" {
    do {
        print(try Comparison(folder: URL(filePath: CommandLine.arguments[2])).table)
        exit(0)
    } catch {
        FileHandle.standardError.write(Data("benchmark: \(error)\n".utf8))
        exit(1)
    }
}
guard let plan = Plan(CommandLine.arguments, ProcessInfo.processInfo.environment) else {
    FileHandle.standardError.write(Data(Plan.usage.utf8))
    exit(CommandLine.arguments.contains("--help") ? 0 : 64)
}
do {
    try await plan.run()
} catch {
    FileHandle.standardError.write(Data("benchmark: \(error)\n".utf8))
    exit(1)
}
