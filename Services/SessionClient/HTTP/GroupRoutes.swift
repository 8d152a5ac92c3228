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
        signedIn.get("groups/{group}") { _, context in
            Response.json(try await groups.state(of: context.id("group"), by: context.caller).json)
        }
        signedIn.get("groups/{group}/game") { request, context in
            let game = try await groups.game(of: context.id("group"), by: context.caller)
            let tag = "\"\(game.version)\""
            // Private, and revalidated each time, because the caller may have left meanwhile.
            let headers: HTTPFields = [.eTag: tag, .cacheControl: "private, no-cache"]
            guard !Self.isKnown(tag, by: request.headers[.ifNoneMatch]) else {
                return Response(status: .notModified, headers: headers)
            }
            var response = try Response.json(game)
            for field in headers { response.headers[field.name] = field.value }
            return response
        }
    }
}
