extension DroppedErrors {
    static let reasons = [
        // MARK: The bus and PostgreSQL
        Reason(
            "Shared/Postgres/Database.swift", "execute",
            "what can't be rolled back is settled by giving the connection up"),
        Reason(
            "Shared/Postgres/Database.swift", "execute",
            "the error before it is thrown, and the connection is settled before its next use"),
        Reason("Shared/Postgres/Database.swift", "pipeline.flush", "the error that ended the pipeline is thrown"),
        Reason(
            "Services/Notifications/Sending/Outbox.swift", "query",
            "a doorbell after the commit; without it, the next poll finds the row"),
        Reason(
            "Services/Notifications/Sending/TakenPushes.swift", "query",
            "a doorbell after the commit; without it, the next poll finds the rows"),
        Reason(
            "Services/SessionClient/Running/SagaWriter.swift", "database.query",
            "a doorbell after the commit; without it, the next poll finds them"),

        // MARK: Services
        Reason(
            "Services/Notifications/Sending/TakenPushes.swift", "cancelWhenGracefulShutdown",
            "a look reports its own errors; only the pause between two ends it"),
        Reason(
            "Services/SessionClient/HTTP/Door/Certificates.swift", "cancelWhenGracefulShutdown",
            "reading reports its own errors; only the pause ends it"),
        Reason(
            "Services/SessionClient/Operators/LongReads.swift", "cancelWhenGracefulShutdown",
            "a look logs its own errors; only the pause ends it"),
        Reason(
            "Services/SessionClient/Operators/PhoneNames.swift", "cancelWhenGracefulShutdown",
            "a pass logs its own errors; only being cancelled ends it"),
        Reason(
            "Services/SessionClient/Running/AlarmWatch.swift", "cancelWhenGracefulShutdown",
            "a look logs its own errors; only the pause ends it"),
        Reason(
            "Services/SessionClient/Running/CanaryKeeper.swift", "cancelWhenGracefulShutdown",
            "a look logs its own errors; only the pause ends it"),
        Reason(
            "Shared/ServiceKit/Bus/CanarySupport.swift", "cancelWhenGracefulShutdown",
            "what could not be said is said five seconds later; only the pause ends it"),
        Reason(
            "Shared/ServiceKit/Clock/DatabaseClock.swift", "cancelWhenGracefulShutdown",
            "what could not be measured is measured later; only the pause ends it"),
        Reason(
            "Shared/ServiceKit/Lifecycle/MemoryTrim.swift", "cancelWhenGracefulShutdown",
            "nothing in it fails but the pause"),
        Reason(
            "Services/Notifications/Sending/PushDelivery.swift", "pool.withConnection",
            "what isn't given back is sent once its lease ends"),
        Reason("Services/Notifications/Sending/Providers/PushClient.swift", "http.shutdown", "the process ends"),
        Reason(
            "Services/SessionClient/Running/SagaRunner.swift", "table.postpone",
            "what isn't given back goes on once the lease ends"),
        Reason(
            "Services/SessionClient/Running/SagaRunner.swift", "table.postpone",
            "what isn't given back goes on once the lease ends"),
        Reason(
            "Services/SessionClient/GRPC/UnaryCalls.swift", "context.cancellation.cancelled",
            "fails only for a call that has ended"),
        Reason(
            "Services/SessionClient/Streams/StreamOutlet.swift", "credit.take",
            "fails only for a connection that is over"),
        Reason(
            "Services/SessionClient/Streams/StreamFilter.swift", "ContactsEvent",
            "not dropped: the value is returned, and an unknown event is about nobody known"),
        Reason("Services/SessionClient/Streams/StreamFilter.swift", "NotificationsEvent", "not dropped, as above"),
        Reason(
            "Services/SessionClient/HTTP/Door/Door.swift", "channel.syncOptions?.setOption",
            "a dead peer is found later, by keep-alive"),
        Reason(
            "Services/SessionClient/HTTP/Door/Resets.swift", "connection.pipeline.syncOperations.context",
            "fails only if the connection is closed"),
        Reason("Services/SessionClient/Endpoints/AnswerJournal.swift", "file.write", "for tests, which miss the line"),
        Reason("Shared/Webhook/Webhook.swift", "body.collect", "read for nothing but the connection's next use"),

        // MARK: What apps add
        Reason(
            "Shared/Client/GRPC/GRPCTransport.swift", "client.runConnections",
            "each call says what is wrong with the connections"),
        Reason(
            "Shared/Client/Testing/World/QuartetWorld.swift", "app.quartet.session.restore",
            "fails on a locked device, where the app tries again"),
        Reason("Shared/Client/QuartetClient/Local/LocalStore.swift", "remove", "the error before it is thrown"),
        Reason(
            "Shared/Client/QuartetClient/Local/DeviceBackup.swift", "file.setResourceValues",
            "a file system that can't keep a file out of backups keeps nobody from signing in"),
        Reason(
            "Shared/Client/Storage/StoreOpening.swift", "database.rollback",
            "nothing was written, and the connection is closed next"),
        Reason(
            "Shared/Client/Storage/StoreOpening.swift", "FileManager.default.removeItem",
            "it has its name by then; what else is left goes with the next sign-out or the next damage"),
        Reason(
            "Shared/Client/Storage/StoreOpening.swift", "former.empty",
            "a damaged file that keeps its bytes goes with the next sign-out"),
        Reason(
            "Shared/Client/QuartetClient/Local/AccountStore.swift", "self.forgetSetAside",
            "the next time that the account is opened tries again"),
        Reason(
            "Shared/Client/QuartetClient/Connection/Connection+SigningIn.swift", "store.forgetSetAside",
            "opening the account tries again; a sign-in doesn't fail for it"),
        Reason(
            "Shared/Client/QuartetClient/Connection/Connection+Account.swift", "dropForgotten",
            "the error before it is thrown"),
        Reason(
            "Shared/Client/QuartetClient/Connection/Connection+Account.swift", "entering.run",
            "the next command finds the same"),
        Reason(
            "Shared/Client/QuartetClient/Connection/Connection+Account.swift", "store.forgetOthers",
            "the next start tries again"),
        Reason(
            "Shared/Client/QuartetClient/Connection/Connection+SigningIn.swift", "self.tokens?.finishLeaving",
            "their data is erased; the server is told if it answers, and no later"),
        Reason(
            "Shared/Client/QuartetClient/Connection/Connection+Stream.swift", "catch",
            "the stream ends with its token, and the next begins with another"),
        Reason(
            "Shared/Client/QuartetClient/Connection/Connection+Stream.swift", "restore",
            "the server's state replaces what can't be read; the reader tries on"),
        Reason(
            "Shared/Client/QuartetClient/Connection/Connection+Stream.swift", "restore",
            "the stream ends with why in any case; who signs in elsewhere is heeded on"),
        Reason(
            "Shared/Client/QuartetClient/Connection/Connection.swift", "running.run",
            "fails only for a task that is cancelled while it waits"),
        Reason(
            "Shared/Client/QuartetClient/Connection/Connection.swift", "entering.run",
            "fails only for a task that is cancelled while it waits"),
        Reason(
            "Shared/Client/QuartetClient/Connection/Connection.swift", "catch",
            "what can't be read is loaded from the server, and read later"),
        Reason(
            "Shared/Client/QuartetClient/Connection/DeviceAccounts.swift", "connection.outbox.cancel",
            "one that can't be taken back is sent late, which is better than a call for help that isn't sent"),
        Reason(
            "Shared/Client/QuartetClient/Connection/DeviceAccounts.swift", "catch",
            "what can't be read is loaded from the server, and read later"),
        Reason(
            "Shared/Client/QuartetClient/Connection/DeviceAccounts+Running.swift", "running.run",
            "fails only for a task that is cancelled while it waits"),
        Reason(
            "Shared/Client/QuartetClient/Connection/DeviceAccounts+Running.swift", "catch",
            "the account is opened, and its connection says why it can't be read"),
        Reason(
            "Shared/Client/QuartetClient/Connection/DeviceAccounts+Running.swift", "catch",
            "what can't be read of an account that was removed isn't shown, either"),
        Reason(
            "Shared/Client/QuartetClient/Connection/DeviceAccounts+Shelf.swift", "former.tokens.save",
            "this process takes nothing over for whoever has signed out in it; the next try may forget it"),
        Reason(
            "Shared/Client/QuartetClient/Connection/DeviceAccounts+Shelf.swift", "former.store",
            "this process takes nothing over for whoever has signed out in it; the next try may forget it"),
        Reason(
            "Shared/Client/QuartetClient/Connection/DeviceAccounts+Shelf.swift", "shelf.make",
            "a folder with tokens isn't erased, marked or not"),
        Reason(
            "Shared/Client/QuartetClient/Connection/DeviceAccounts+Shelf.swift", "catch",
            "a folder that can't be marked stays due, and the next round tries again"),
        Reason(
            "Shared/Client/QuartetClient/Connection/DeviceAccounts+Shelf.swift", "shelf.make",
            "a folder with tokens isn't erased, marked or not"),
        Reason(
            "Shared/Client/QuartetClient/Connection/DeviceAccounts+Shelf.swift", "writing.run",
            "nothing in it throws, and whoever is cancelled waits all the same"),
        Reason(
            "Shared/Client/QuartetClient/Connection/DeviceAccounts+Shelf.swift", "catch",
            "whoever signs in hears that there is no room; the server is told of that once"),
        Reason(
            "Shared/Client/QuartetClient/Connection/SystemSurroundings.swift", "catch",
            "where notifications aren't allowed, the card says it"),
        Reason(
            "Shared/Client/QuartetClient/Outbox/Outbox+Sending.swift", "cards.remove",
            "the change arrived; a card that stays is shown once more after a restart, and its person dismisses it"),
        Reason(
            "Shared/Client/QuartetClient/Outbox/Outbox+Sharing.swift", "heeding.run",
            "fails only for a task that is cancelled while it waits"),
        Reason(
            "Shared/Client/QuartetClient/Outbox/Outbox+Sharing.swift", "store.othersChanges",
            "what can't be read now is read a second later"),
        Reason(
            "Shared/Client/QuartetClient/Outbox/Outbox+Writing.swift", "self.write",
            "the item itself says whether it is kept"),
        Reason(
            "Shared/Client/QuartetClient/Outbox/Outbox+Writing.swift", "writeInTime",
            "what was sent is sent again, and answered the same"),
        Reason(
            "Shared/Client/QuartetClient/Outbox/UnsentChange.swift", "store.remove",
            "the newer card is kept nevertheless; an old one shows again"),
        Reason(
            "Shared/Client/QuartetClient/Outbox/UnsentChange.swift", "self.store.remove",
            "a card that stays is shown again"),
        Reason(
            "Shared/Client/QuartetClient/Requests/FileTransfer.swift", "file.close",
            "an attachment is hashed as a whole before it counts"),
        Reason("Shared/Client/QuartetClient/Requests/FileTransfer.swift", "handle.close", "it was only read"),
        Reason("Shared/Client/QuartetClient/Requests/FileTransfer.swift", "handle.close", "it was only read"),
    ]
}
