import Crypto
import Foundation
import QuartetAPI
import QuartetProto
import SwiftProtobuf
import TestKit
import Testing

@testable import SessionClientService

/// The protos and what is generated of them.
@Suite("quartet.proto")
struct ProtoTests {
    private static let folder = Products.package.appending(path: "Shared/API/Proto")

    @Test("the proto is what `make proto` makes of the endpoints, and nothing that it generates was changed since")
    func isNew() throws {
        for (name, text) in try ProtoFiles.texts(in: Self.folder) {
            #expect(
                try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8) == text,
                "\(name) is stale: make proto")
        }
        let checksums = try String(contentsOf: Self.folder.appending(path: "checksums"), encoding: .utf8)
        for line in checksums.split(separator: "\n") {
            let parts = line.split(separator: " ").map(String.init)
            try #require(parts.count == 2)
            let bytes = try Data(contentsOf: Self.folder.appending(path: parts[1]))
            let digest = SHA256.hash(data: bytes).map { String(format: "%02x", $0) }.joined()
            #expect(digest == parts[0], "\(parts[1]) is stale: make proto")
        }
    }

    @Test("every endpoint has an rpc, and every rpc an endpoint, besides Watch (T18)")
    func count() throws {
        let set = try Google_Protobuf_FileDescriptorSet(serializedBytes: PackageResources.descriptors_binpb)
        let service = try #require(set.file.first { $0.name == "quartet.proto" }?.service.first)
        let calls = Set(service.method.map(\.name))
        let endpoints = Set(Endpoint.all.map(\.declaration.name))
        #expect(calls == endpoints.union(["Watch"]) && calls.count == Endpoint.all.count + 1)
        for name in endpoints { #expect(QuartetMessages.pair(of: name) != nil, "\(name)") }
        #expect(Set(QuartetMessages.names) == endpoints)
    }

    @Test("a field keeps its number when others come and go, and no number is used twice")
    func numbers() throws {
        let earlier = """
            message GetContactRequest {
              reserved 2;
              optional string gone = 3;
              optional string account = 7;
            }
            """
        let file = try ProtoFile(Endpoint.all.map(\.declaration), keeping: earlier)
        #expect(
            file.proto.contains("message GetContactRequest {\n  reserved 2, 3;\n  optional string account = 7;\n}\n"))
        let once = try ProtoFile(Endpoint.all.map(\.declaration), keeping: file.proto)
        #expect(once.proto == file.proto)
    }
}
