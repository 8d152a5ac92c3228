import Hummingbird
import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary
import ServiceKit

/// What operators' API keys open. Where operators aren't configured, there is nothing at these paths.
extension HTTPEndpoint {
    private static let reason = "Operators use a browser, curl or psql; apps don't know these paths."

    @ListBuilder<HTTPEndpoint> static var operators: [HTTPEndpoint] {
        look("GetOperator", "", "Whose key it is.") { _, who in
            OK(OperatorReply(key: who.key, name: who.name, role: who.role))
        }
        look("ListQueries", "/queries", "The named queries of `make psql`.") { operators, _ in
            OK(NamedQueries(queries: operators.queries.all))
        }
        look(
            "RunQuery", "/queries/{query}", "The rows of a named query, at most 1,000.",
            Parameter<String>.word("query", "The query's name."),
            Parameter<String?>.text("id", "Of what the query asks about."),
            Parameter<String?>.text("alarm", "An alarm."), Parameter<String?>.text("handle", "A person's handle."),
            refusals: [.invalidParameter],
            // The query's name is a word, and any word may be asked for.
            impossible: [.invalidID]
        ) { operators, _, query, id, alarm, handle in
            let values = ["id": id, "alarm": alarm, "handle": handle].compactMapValues(\.self)
            return OK(try await operators.rows(of: query, values))
        }
        look(
            "GetStory", "/story/{id}", "Everything that one request led to, as a tree.",
            Parameter<BusMessageID>.path("id", "The id of a request, or of any message, command or operation in it.")
        ) { operators, _, id in OK(try await operators.rows(of: "story", ["id": id.description])) }
        look(
            "GetReceipts", "/told/{alarm}", "Was she told? Who was notified of an alarm, and how late.",
            Parameter<AlarmID>.path("alarm", "The alarm.")
        ) { operators, _, alarm in OK(try await operators.told(alarm)) }
        look(
            "GetTail", "/tail", "The messages of all logs after a time, at most 200.",
            Parameter<Int?>.number("since", in: 0...Int.max, "Microseconds since 1970; a minute ago if left out.")
        ) { operators, _, since in
            OK(try await operators.tail(since: since.map { Instant(microseconds: Int64($0)) }))
        }
        look(
            "GetGroupHistory", "/groups/{group}", "A group session as it was at a position of its stream.",
            Parameter<GroupID>.path("group", "The group session."),
            Parameter<Int?>.number("at", in: 0...Int.max, "The position; the newest if left out."),
            refusals: [.groupNotFound, .truncated]
        ) { operators, _, group, position in
            OK(try await operators.group(group, at: position.map(Int64.init)))
        }
        look("GetMetrics", "/metrics", "What this process serves to Prometheus.") { operators, _ in
            OK(OperatorMetrics(text: operators.metrics.text))
        }

        act(RetryDeadLetter.self, "retry-dead-letter", "Sends a dead letter again, once.", refusals: [.alreadyDecided])
        act(
            DiscardDeadLetter.self, "discard-dead-letter", "Decides that nothing will be done about a dead letter.",
            refusals: [.alreadyDecided])
        act(RetryParked.self, "retry-parked", "Tries the parked message of a key again, now.")
        act(DiscardParked.self, "discard-parked", "Gives up the parked message of a key.")
        act(SetRetention.self, "set-retention", "Sets how long the rows of a table are kept.")
        act(
            AcceptTruncation.self, "accept-truncation",
            "Goes on where a log now begins, after retention deleted what wasn't handled.")
        act(RedactAccount.self, "redact", "Empties what a service's logs say of an account.")
        act(ResumeOperation.self, "resume-operation", "Has an operation that failed, or that can't go on, run again.")
        act(
            SendTestPush.self, "send-test-push", "Pushes a test to a device, which nobody counts as told by.",
            refusals: [.limitReached])
    }

    private static func look<each Value: Sendable, Result: EndpointResult>(
        _ name: String, _ path: String, _ summary: String, _ parameters: repeat Parameter<each Value>,
        refusals: [APIError.Code] = [], impossible: Set<APIError.Code> = [],
        answer: @escaping @Sendable (Operators, Operator, repeat each Value) async throws -> Result
    ) -> HTTPEndpoint {
        HTTPEndpoint(
            declaration: Endpoint.Declaration(
                name: name, method: .get, path: "/v1/operator\(path)", access: .operators(.read), summary: summary,
                parameters: Endpoint.declarations(of: repeat each parameters), replies: Result.replies,
                refusals: refusals, impossible: impossible, limit: .reads, isDecided: false),
            reason: reason
        ) { routes, request, context, admitted in
            let (operators, who) = try routes.operators(admitted)
            let texts = request.parameters(context)
            let result = try await answer(operators, who, repeat (each parameters).read(texts))
            return Response(try result.reply(), to: request)
        }
    }

    private static func act<Act: OperatorAct>(
        _ act: Act.Type, _ path: String, _ summary: String, refusals: [APIError.Code] = []
    ) -> HTTPEndpoint {
        HTTPEndpoint(
            declaration: Endpoint.Declaration(
                name: act.type, method: .post, path: "/v1/operator/\(path)", access: .operators(.act), summary: summary,
                body: .json(act), replies: OK<OperatorActReply>.replies, refusals: refusals, limit: .commands,
                isDecided: false),
            reason: reason
        ) { routes, request, context, admitted in
            let (operators, who) = try routes.operators(admitted)
            let reply = try await operators.act(Act(sent: await request.json(context)), by: who)
            return Response(try OK(reply).reply(), to: request)
        }
    }
}

extension Routes {
    /// - Throws: `missingToken`: it isn't an operator that was let in.
    fileprivate func operators(_ admitted: Admitted) throws(APIError) -> (Operators, Operator) {
        guard let operators = admission.operators, let who = admitted.operator else { throw APIError(.missingToken) }
        return (operators, who)
    }
}

extension Parameter<String> {
    /// A part of the path that is a name.
    fileprivate static func word(_ name: String, _ summary: String) -> Self {
        Self(ParameterDeclaration(place: .path, name: name, summary: summary, schema: .string())) { $0.first ?? "" }
    }
}
