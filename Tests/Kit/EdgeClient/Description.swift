/// What a server says of itself at `/openapi.json`.
public struct Description: Sendable {
    public struct Operation: Sendable {
        public let id: String
        public let method: String
        /// With its parameters, as in `/v1/contacts/{account}`.
        public let path: String
        public let parameters: [(name: String, isInPath: Bool)]
        public let isOpen: Bool
        public let isForOperators: Bool
        /// The media types that it is sent; none where it is sent nothing.
        public let content: [String]
        /// The codes of its refusals and their statuses.
        public let refusals: [String: Int]

        /// The path and the body that say what a call says over gRPC, where parameters and body are one message.
        public func request(_ message: [String: JSON]) -> (path: String, body: JSON) {
            var (path, query, members) = (path, [String](), message)
            for (name, isInPath) in parameters {
                guard let value = members.removeValue(forKey: name) else { continue }
                let texts = (value.array.isEmpty ? [value] : value.array).map { $0.string ?? "\($0)" }
                if isInPath {
                    path = path.replacing("{\(name)}", with: texts.joined())
                } else {
                    query += texts.map { "\(name)=\($0)" }
                }
            }
            return (query.isEmpty ? path : path + "?" + query.joined(separator: "&"), .object(members))
        }

        init?(_ method: String, _ path: String, _ document: JSON) {
            guard let id = document["operationId"].string else { return nil }
            (self.id, self.method, self.path) = (id, method.uppercased(), path)
            parameters = document["parameters"].array.filter { $0["in"] != "header" }.compactMap { parameter in
                parameter["name"].string.map { ($0, parameter["in"] == "path") }
            }
            isOpen = document["security"].array.isEmpty
            isForOperators = document["security"].array.contains { $0.members.keys.contains("operatorKey") }
            content = document["requestBody"]["content"].members.keys.sorted()
            var refusals: [String: Int] = [:]
            for (status, response) in document["responses"].members {
                let problem = response["content"]["application/problem+json"]["schema"]["allOf"][1]
                for code in problem["properties"]["code"]["enum"].array.compactMap(\.string) {
                    refusals[code] = Int(status)
                }
            }
            self.refusals = refusals
        }
    }

    /// In the order of their ids.
    public let operations: [Operation]

    public init(_ document: JSON) {
        operations = document["paths"].members.flatMap { path, methods in
            methods.members.compactMap { Operation($0.key, path, $0.value) }
        }.sorted { $0.id < $1.id }
    }

    /// Those that apps have.
    public var appOperations: [Operation] { operations.filter { !$0.isForOperators } }

    public subscript(id: String) -> Operation? { operations.first { $0.id == id } }
}
