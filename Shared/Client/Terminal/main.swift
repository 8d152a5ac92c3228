import Foundation
import QuartetClient
import QuartetStorage
import QuartetVocabulary

do {
    let settings = try Settings(CommandLine.arguments.dropFirst(), ProcessInfo.processInfo.environment)
    if settings.wantsHelp {
        print(Settings.usage)
        exit(0)
    }
    if settings.wantsVersion {
        print("quartet-tui \(Release.version)")
        exit(0)
    }
    if settings.wantsState {
        Texts.use(Words.texts)
        let device = try Device(settings)
        guard let accounts = device.accounts() else { throw Settings.Wrong(description: "--state needs --server") }
        do { try await accounts.restore() } catch {
            FileHandle.standardError.write(Data("quartet-tui: \(error.localizedDescription)\n".utf8))
        }
        let shown = accounts.current
        print(shown.quartet.stateDump(shown.connection), terminator: "")
        withExtendedLifetime(device) {}
        exit(0)
    }
    let terminal = try Terminal(Terminal.Abilities(environment: ProcessInfo.processInfo.environment))
    Texts.use(Words.texts)
    let device = try Device(settings)
    let app = App(device.accounts(), on: device, server: settings.server?.absoluteString, terminal: terminal)
    let status = await app.run()
    exit(status)
} catch {
    FileHandle.standardError.write(Data("quartet-tui: \(error)\n".utf8))
    exit(2)
}
