import Foundation
import GRPCCore
import QuartetAPI
import QuartetClient
import QuartetContractSupport
import QuartetProto
import QuartetVocabulary
import SwiftProtobuf

/// A message of Protobuf. The vocabulary has others.
typealias ProtoMessage = SwiftProtobuf.Message

/// A request of the API as a call of gRPC. Messages and the API's JSON are turned into each other by Protobuf's own mapping, since
/// their fields are called the same.
struct RPCCall: Sendable {
    static let service = "quartet.v1.Quartet"

    let name: String
    let messages: QuartetMessages.Pair
    private let request: TransportRequest
    /// Lists that are empty don't travel in Protobuf, and the API's JSON has them.
    private let lists: Schema?

    /// - Throws: `TransportError` if there is no such call.
    init(_ request: TransportRequest) throws {
        name = Self.name(of: request.endpoint)
        guard let messages = QuartetMessages.pair(of: name) else {
            throw TransportError.malformed("there is no call \(name)")
        }
        self.messages = messages
        self.request = request
        lists = Self.lists(of: request.endpoint)
    }

    var method: MethodDescriptor { MethodDescriptor(fullyQualifiedService: Self.service, method: name) }

    private static func name(of endpoint: TransportRequest.Endpoint) -> String {
        switch endpoint {
        case .signUp: "SignUp"
        case .signIn: "SignIn"
        case .signInCode: "RequestSignInCode"
        case .token: "RefreshToken"
        case .undo: "Undo"
        case .signOut: "SignOut"
        case .confirm: "Confirm"
        case .changePassword: "ChangePassword"
        case .resetPassword: "ResetPassword"
        case .recoveryCodes: "MakeRecoveryCodes"
        case .changePhone: "ChangePhone"
        case .verifyPhone: "VerifyPhone"
        case .command(let name), .operation(let name): name
        case .operationState: "GetOperation"
        case .signal: "SendSignal"
        case .messages: "ListGroupMessages"
        case .time: "GetTime"
        case .drill: "GetDrill"
        case .streamToken: "ExtendStream"
        case .serverTime: "Check"
        case .upload, .chunks, .attachment: "none"
        }
    }

    /// What HTTP has in the path and the query.
    private var parameters: [String: JSONValue] {
        switch request.endpoint {
        case .operationState(let id): ["operation": .string("\(id)")]
        case .signal(let group): ["group": .string("\(group)")]
        case .messages(let group, let query):
            ["group": .string("\(group)"), "after": .integer(query.after), "limit": .integer(Int64(query.limit))]
        default: [:]
        }
    }

    func message<Request: ProtoMessage>() throws -> Request {
        var json = request.body.isEmpty ? Array("{}".utf8) : request.body
        if !parameters.isEmpty, case .object(let members) = try Encoded<JSONValue>(json: json).decoded() {
            json = try Encoded(JSONValue.object(members.merging(parameters) { $1 })).json
        }
        var options = JSONDecodingOptions()
        options.ignoreUnknownFields = true
        return try Request(jsonUTF8Bytes: json, options: options)
    }

    func body(of reply: some ProtoMessage) throws -> [UInt8] {
        var options = JSONEncodingOptions()
        options.alwaysPrintInt64sAsNumbers = true
        options.preserveProtoFieldNames = true
        let json: [UInt8] = try reply.jsonUTF8Bytes(options: options)
        guard let lists else { return json }
        return try Encoded(lists.completing(try Encoded<JSONValue>(json: json).decoded())).json
    }

    private static func lists(of endpoint: TransportRequest.Endpoint) -> Schema? {
        func result<Request: OperationRequest>(of _: Request.Type) -> Schema? {
            guard let result = try? Schema(of: Request.Result.self) else { return nil }
            return .object(.init(name: "Reply", [.init("result", result, isRequired: false)]))
        }
        switch endpoint {
        case .messages: return try? Schema(of: MessagesPage.self)
        case .drill: return try? Schema(of: DrillReport.self)
        case .operation(let name): return appOperations[name].flatMap { result(of: $0) }
        default: return nil
        }
    }
}
