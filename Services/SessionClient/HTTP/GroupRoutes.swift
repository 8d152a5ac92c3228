import API
import HTTPTypes
import Hummingbird
import SessionContract
import Vocabulary

/// Group sessions, as far as the caller may see them.
extension Routes {
    func addGroups(to signedIn: RouterGroup<SignedInContext>) {
        let groups = actions.groups
        signedIn.get("groups") { request, context in
            let isOpen = try request.choice("open", of: YesOrNo.self) == .yes
            return try Response.json(try await groups.offers(to: context.caller.account, isOpen: isOpen))
        }
        signedIn.get("groups/{group}") { request, context in
            if let position = try request.number("at", in: 0...Int.max) {
                return try Response.json(
                    try await groups.state(of: context.id("group"), at: Int64(position), by: context.caller))
            }
            return Response.json(try await groups.state(of: context.id("group"), by: context.caller).json)
        }
        signedIn.get("groups/{group}/messages") { request, context in
            let query = MessagesQuery(
                after: Int64(try request.number("after", in: 0...(1 << 53)) ?? 0),
                limit: try request.number("limit", in: MessagesQuery.limits) ?? MessagesQuery.limits.upperBound)
            return try Response.json(try await groups.messages(query, of: context.id("group"), by: context.caller))
        }
        signedIn.post("groups/{group}/signals") { [signals = actions.signals] request, context in
            let group: GroupID = try context.id("group")
            try await signals.send(try await request.decoded(context.edge), to: group, by: context.caller)
            return Response(status: .accepted)
        }
        signedIn.get("groups/{group}/game") { request, context in
            let game = try await groups.game(of: context.id("group"), by: context.caller)
            let tag = EntityTag(game.version)
            // Private, and revalidated each time, because the caller may have left meanwhile.
            let headers: HTTPFields = [.eTag: tag.text, .cacheControl: "private, no-cache"]
            guard !request.has(tag) else {
                return Response(status: .notModified, headers: headers)
            }
            var response = try Response.json(game)
            for field in headers { response.headers[field.name] = field.value }
            return response
        }
    }
}
