import Foundation
import GRPCNIOTransportHTTP2Posix
import QuartetClient
import QuartetGRPC
import TestKit
import Testing

extension AppPackageTests {
    /// What an app has of attachments by `QuartetClient`, against the real services.
    @Suite
    struct Attachments {
        /// What was asked for, in its order.
        private typealias Requests = Observed<[TransportRequest.Endpoint]>

        private static func transport(to quartet: Quartet, _ requests: Requests) -> MovingTransport {
            var transport = MovingTransport { try quartet.url }
            transport.sending = { request in requests.update { $0.append(request.endpoint) } }
            return transport
        }

        /// Runs `body` until it has come so far, and ends it there.
        private static func interrupt(
            atBytes count: Int, _ body: @Sendable @escaping (@escaping GroupSessionClient.Progress) async throws -> Void
        ) async throws {
            let task = Task {
                try await body { progress in
                    if progress.done >= count { withUnsafeCurrentTask { $0?.cancel() } }
                }
            }
            await #expect(throws: QuartetError.cancelled) { try await task.value }
        }

        @Test(
            """
            a file goes up and comes down in pieces, says how far it is, and goes on where it was when either was interrupted; who \
            speaks gRPC has files, too (P24, P36)
            """)
        func files() async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "attachments-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let (source, copy) = (folder.appending(path: "song.flac"), folder.appending(path: "copy.flac"))
            try await withRandom { random in
                let bytes = Data((0..<650_000).flatMap { _ in withUnsafeBytes(of: random.next(), Array.init) })
                try bytes.write(to: source)
                try await Quartet.with { quartet in
                    try await quartet.waitLongForPeopleWhoAreAway()
                    let (hers, his) = (Requests([]), Requests([]))
                    let gRPC = try GRPCTransport(
                        host: "127.0.0.1", port: Int(try await quartet.rpcPort()), security: .plaintext,
                        files: Self.transport(to: quartet, his))
                    try await PackageApp.with("anna", Self.transport(to: quartet, hers)) { anna in
                        try await PackageApp.with("bob", gRPC) { bob in
                            let (annas, bobs) = (anna.clients.groups, bob.clients.groups)
                            let group = try await Self.group(of: anna, and: bob)
                            let file = AttachmentFile(source, contentType: "audio/flac")
                            try await Self.interrupt(atBytes: 2 << 20) { report in
                                try await annas.attach(file, to: group, progress: report)
                            }
                            let progress = Observed<[FileProgress]>([])
                            let id = try await annas.attach(file, to: group) { one in progress.update { $0.append(one) }
                            }
                            #expect(id == ContentHash(of: Array(bytes)))
                            // Twenty pieces. What was on its way when it was interrupted may have arrived or not.
                            #expect(
                                (20...28).contains(hers.value.count { if case .chunks = $0 { true } else { false } }))
                            let steps = progress.value.map(\.done)
                            #expect(steps == steps.sorted() && (steps.first ?? 0) >= 2 << 20)
                            #expect(progress.value.last == FileProgress(done: bytes.count, size: bytes.count))
                            // It is there already.
                            #expect(try await annas.attach(file, to: group) == id)

                            let opened = try bobs.open(group)
                            try await PackageApp.wait("the attachment", opened.state.values(of: \.attachments)) {
                                $0.map(\.id) == [id]
                            }
                            let attachment = try #require(opened.state.attachments.first)
                            #expect(attachment.name == "song.flac" && attachment.size == bytes.count)
                            try await Self.interrupt(atBytes: 4 << 20) { report in
                                try await bobs.download(attachment, of: group, to: copy, progress: report)
                            }
                            #expect(!FileManager.default.fileExists(atPath: copy.path))
                            let before = his.value.count
                            try await bobs.download(attachment, of: group, to: copy)
                            #expect(try Data(contentsOf: copy) == bytes)
                            #expect(
                                his.value[before...] == [.attachment(group, id, bytes: 4 << 20..<bytes.count)])
                            // The rest of another file costs one more attempt, and an old file is replaced.
                            let again = folder.appending(path: "again.flac")
                            try Data("old".utf8).write(to: again)
                            try Data("stale".utf8).write(to: again.appendingPathExtension("part"))
                            try await bobs.download(attachment, of: group, to: again)
                            #expect(try Data(contentsOf: again) == bytes)

                            try await annas.removeAttachment(group, id)
                            try await PackageApp.wait("its end", opened.state.values(of: \.attachments)) { $0.isEmpty }
                            await #expect {
                                try await bobs.download(attachment, of: group, to: folder.appending(path: "late"))
                            } throws: {
                                ($0 as? QuartetError)?.code == .attachmentNotFound
                            }
                        }
                    }
                }
            }
        }

        @Test("a shared file that looks like a refusal is a file: nobody who fetches it is signed out (P24, P36)")
        func disguised() async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "attachments-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let (source, copy) = (folder.appending(path: "problem.json"), folder.appending(path: "copy.json"))
            let bytes = Data(#"{"code":"signedOut"}"#.utf8)
            try bytes.write(to: source)
            try await Quartet.with { quartet in
                try await PackageApp.with("anna", Self.transport(to: quartet, Requests([]))) { anna in
                    try await PackageApp.with("bob", Self.transport(to: quartet, Requests([]))) { bob in
                        let group = try await Self.group(of: anna, and: bob)
                        let file = AttachmentFile(source, contentType: "application/problem+json")
                        let id = try await anna.clients.groups.attach(file, to: group)
                        let opened = try bob.clients.groups.open(group)
                        try await PackageApp.wait("the attachment", opened.state.values(of: \.attachments)) {
                            $0.map(\.id) == [id]
                        }
                        let attachment = try #require(opened.state.attachments.first)
                        #expect(attachment.contentType == "application/problem+json")
                        try await bob.clients.groups.download(attachment, of: group, to: copy)
                        #expect(try Data(contentsOf: copy) == bytes)
                        #expect(bob.connection.state == .connected && bob.clients.session.session.isSignedIn)
                    }
                }
            }
        }

        @Test("gRPC without a transport for files refuses attachments, which isn't taken for a lost connection (P24)")
        func unsupported() async throws {
            let gRPC = try GRPCTransport(host: "127.0.0.1", port: 9, security: .plaintext)
            let request = TransportRequest(.upload(ContentHash(of: [1, 2, 3])))
            let reply = try await AutoTransport(gRPC, else: gRPC).send(request)
            #expect(throws: APIError(.refused, "This transport carries no attachments.")) { try reply.result.get() }
        }

        /// A session of two.
        private static func group(of anna: PackageApp, and bob: PackageApp) async throws -> GroupID {
            let code = try #require(bob.clients.contacts.contacts.code)
            try await anna.clients.contacts.add(AddContactRequest(code: code, isMyResponder: true, iAmResponder: true))
            let id = try #require(bob.clients.session.session.account)
            try await PackageApp.wait("the contact", anna.clients.contacts.contacts.values(of: \.ids)) { $0 == [id] }
            let group = try await anna.clients.groups.create(
                CreateGroupSessionRequest(
                    activity: GroupSessionActivity(identifier: "org.example.songs", title: "Songs"), capacity: 2,
                    seats: 0))
            try await anna.clients.groups.invite(group, [id])
            try await PackageApp.wait("the invitation", bob.clients.groups.groups.values(of: \.count)) { $0 == 1 }
            try await bob.clients.groups.join(group)
            return group
        }
    }
}
