import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary

extension Endpoint {
    private static let group = Parameter<GroupID>.path("group", "The group session.")
    /// Why somebody may not see a session.
    private static let hidden: [APIError.Code] = [.groupNotFound, .groupEnded, .removedFromGroup, .notParticipant]

    /// Group sessions, as far as callers may see them.
    @ListBuilder<Endpoint> static var groups: [Endpoint] {
        signedIn(
            "ListGroupSessions", .get, "/v1/groups",
            "The group sessions that the caller is in or may join, newest first.",
            Parameter<Bool>.flag("open", "Leaves out those that the caller is in.")
        ) { actions, request, isOpen in
            OK(try await actions.groups.offers(to: request.caller.account, isOpen: isOpen))
        }
        signedIn(
            "GetGroupSession", .get, "/v1/groups/{group}", "The state of a group session; with `at`, as it was.",
            group, Parameter<Int?>.number("at", in: 0...Int.max, "A position of its stream. For participants only."),
            refusals: hidden + [.truncated]
        ) { actions, request, group, position -> Either<GroupState, GroupMoment> in
            guard let position else { return .first(OK(try await actions.groups.state(of: group, by: request.caller))) }
            return .second(OK(try await actions.groups.state(of: group, at: Int64(position), by: request.caller)))
        }
        signedIn(
            "ListGroupMessages", .get, "/v1/groups/{group}/messages",
            "The kept messages of a group session that are for the caller, the oldest first.", group,
            Parameter<Int?>.number("after", in: 0...(1 << 53), "A message's number, or a page's `next`; by default 0."),
            Parameter<Int?>.number("limit", in: MessagesQuery.limits, "How many messages, by default 100."),
            refusals: hidden
        ) { actions, request, group, after, limit in
            let query = MessagesQuery(after: Int64(after ?? 0), limit: limit ?? MessagesQuery.limits.upperBound)
            return OK(try await actions.groups.messages(query, of: group, by: request.caller))
        }
        signedIn(
            "GetGame", .get, "/v1/groups/{group}/game", "The game in a group session, or the last one.", group,
            refusals: hidden + [.gameNotRunning]
        ) { actions, request, group in
            let game = try await actions.groups.game(of: group, by: request.caller)
            return Tagged(game, tag: EntityTag(game.version))
        }
        signedIn(
            "SendSignal", .post, "/v1/groups/{group}/signals",
            "Sends an unreliable message to those who follow a group session now.", sending: SignalRequest.self, group,
            refusals: hidden + [.participantNotFound, .messageTooLarge, .tooManySignals], limit: nil,
            isDecided: false
        ) { actions, body, request, group in
            try await actions.signals.send(body, to: group, by: request.caller)
            return Accepted()
        }
    }
}
