import QuartetAPI
import QuartetContactsContract
import QuartetNotificationsContract
import QuartetVocabulary

extension Endpoint {
    /// What callers may see, except group sessions.
    @ListBuilder<Endpoint> static var reads: [Endpoint] {
        signedIn("GetAccount", .get, "/v1/account", "The caller's account.") { actions, request in
            OK(try await actions.reads.account(of: request.caller))
        }
        signedIn(
            "ListContacts", .get, "/v1/contacts", "The caller's contacts, in the order of their ids.",
            Parameter<ContactsQuery.Role>.choice("role", "Only responders, or only dependents."),
            Parameter<ContactsQuery.Ping>.choice("ping", "Only people whose ping waits, or whom the caller pinged."),
            Parameter<Int?>.number("limit", in: ContactsQuery.limits, "How many contacts, by default 1000."),
            Parameter<AccountID>.query("after", "An earlier page's `next`.")
        ) { actions, request, role, ping, limit, after in
            OK(
                try await actions.reads.contacts(
                    ContactsQuery(role: role, ping: ping, limit: limit, after: after), of: request.caller))
        }
        signedIn(
            "GetContact", .get, "/v1/contacts/{account}", "One contact.",
            Parameter<AccountID>.path("account", "The contact's account."), refusals: [.notContact]
        ) { actions, request, account in OK(try await actions.reads.contact(account, of: request.caller)) }
        signedIn(
            "GetContactCodeOwner", .get, "/v1/contact-codes/{code}",
            "The handle and the name of a contact code's owner.",
            Parameter<ContactCode>.path("code", "The code."), refusals: [.notFound, .tooManyLookUps]
        ) { actions, request, code in OK(try await actions.reads.owner(of: code, for: request.caller)) }
        signedIn(
            "ListNotifications", .get, "/v1/notifications", "The caller's notifications, newest first.",
            Parameter<Int?>.number("limit", in: NotificationsQuery.limits, "How many notifications, by default 50."),
            Parameter<NotificationCategory>.choice("category", "Only those of a category."),
            Parameter<Bool>.flag("unread", "Only those that weren't read or cleared."),
            Parameter<String?>.text("before", "An earlier page's `next`."), refusals: [.invalidCursor]
        ) { actions, request, limit, category, isUnread, before in
            OK(
                try await actions.history.list(
                    NotificationsQuery(limit: limit, category: category, isUnread: isUnread, before: before),
                    by: request.caller))
        }
        signedIn(
            "GetNotification", .get, "/v1/notifications/{id}", "One notification.",
            Parameter<NotificationID>.path("id", "The notification's id."), refusals: [.notFound]
        ) { actions, request, id in OK(try await actions.history.get(id, by: request.caller)) }
        signedIn(
            "ListReminders", .get, "/v1/reminders", "What the caller will be reminded of, the soonest first."
        ) { actions, request in OK(try await actions.history.reminders(of: request.caller)) }
        signedIn(
            "GetDrill", .get, "/v1/drill", "For whom the caller's newest drill was ready, and who answered it.",
            refusals: [.notFound]
        ) { actions, request in OK(try await actions.drills.report(to: request.caller)) }
        signedIn(
            "ListOperations", .get, "/v1/operations", "The caller's operations, newest first.",
            Parameter<Int?>.number("limit", in: OperationsPage.limits, "How many operations, by default 50.")
        ) { actions, request, limit in
            OK(try await actions.operations.list(limit: limit ?? OperationsPage.limits.upperBound, by: request.caller))
        }
        signedIn(
            "GetOperation", .get, "/v1/operations/{operation}", "How an operation stands.",
            Parameter<ID<OperationSubject>>.path("operation", "The operation's id."), refusals: [.notFound]
        ) { actions, request, operation in try await actions.operations.get(operation, by: request.caller) }
        signedIn(
            "GetStreamHashes", .get, "/v1/stream/hashes",
            "The hash of each of the account's states and where its sequence was then.", limit: .streams
        ) { actions, request in OK(try await actions.streams.hashes(for: request.caller)) }
        signedIn(
            "GetTime", .get, "/v1/time", "The time by the clock in which positions of playback are counted.",
            refusals: [.tooManyRequests]
        ) { actions, request in OK(try actions.time.now(for: request.caller, since: request.arrived)) }
    }
}
