extension DroppedErrors {
    static let reasons = [
        // MARK: The bus and PostgreSQL
        Reason("Database.swift", "execute", "what can't be rolled back is settled by giving the connection up"),
        Reason("Database.swift", "pipeline.flush", "the error that ended the pipeline is thrown"),
        Reason("Outbox.swift", "query", "a doorbell after the commit; without it, the next poll finds the row"),
        Reason("TakenPushes.swift", "query", "a doorbell after the commit; without it, the next poll finds the rows"),
        Reason(
            "SagaWriter.swift", "database.query", "a doorbell after the commit; without it, the next poll finds them"),

        // MARK: Services
        Reason("PushDelivery.swift", "pool.withConnection", "what isn't given back is sent once its lease ends"),
        Reason("PushClient.swift", "http.shutdown", "the process ends"),
        Reason("SagaRunner.swift", "table.postpone", "what isn't given back goes on once the lease ends"),
        Reason("UnaryCalls.swift", "context.cancellation.cancelled", "fails only for a call that has ended"),
        Reason("StreamOutlet.swift", "credit.take", "fails only for a connection that is over"),
        Reason("StreamFilter.swift", "ContactsEvent", "the value is returned: an unknown event is about nobody known"),
        Reason("StreamFilter.swift", "NotificationsEvent", "the value is returned, as above"),
        Reason("Door.swift", "channel.syncOptions?.setOption", "a dead peer is found later, by keep-alive"),
        Reason("Resets.swift", "connection.pipeline.syncOperations.context", "fails only if the connection is closed"),
        Reason("AnswerJournal.swift", "file.write", "for tests, which miss the line"),
        Reason("Webhook.swift", "body.collect", "read for nothing but the connection's next use"),

        // MARK: What apps add
        Reason("GRPCTransport.swift", "client.runConnections", "each call says what is wrong with the connections"),
        Reason(
            "QuartetWorld.swift", "app.quartet.session.restore", "fails on a locked device, where the app tries again"),
        Reason("SessionClient.swift", "show", "the error before it is thrown"),
        Reason("LocalStore.swift", "remove", "the error before it is thrown"),
        Reason("Connection+Account.swift", "dropForgotten", "the error before it is thrown"),
        Reason("Connection+Account.swift", "entering.run", "the next command finds the same"),
        Reason("Connection+Account.swift", "store.forgetOthers", "the next start tries again"),
        Reason(
            "Connection+SigningIn.swift", "store.forget", "nothing of theirs should be there, and what is, is their own"
        ),
        Reason(
            "Connection+SigningIn.swift", "self.tokens?.finishLeaving",
            "their data is erased; the server is told if it answers, and no later"),
        Reason("Connection+Stream.swift", "catch", "the stream ends with its token, and the next begins with another"),
        Reason(
            "Connection+Stream.swift", "restore", "the server's state replaces what can't be read; the reader tries on"),
        Reason("Connection.swift", "running.run", "fails only for a task that is cancelled while it waits"),
        Reason("Connection.swift", "entering.run", "fails only for a task that is cancelled while it waits"),
        Reason("Connection.swift", "catch", "what can't be read is loaded from the server, and read later"),
        Reason("Outbox+Sending.swift", "cards.remove", "a card that stays is shown again, and its person dismisses it"),
        Reason("Outbox+Sharing.swift", "heeding.run", "fails only for a task that is cancelled while it waits"),
        Reason("Outbox+Sharing.swift", "store.othersChanges", "what can't be read now is read a second later"),
        Reason("Outbox+Writing.swift", "self.write", "the item itself says whether it is kept"),
        Reason("Outbox+Writing.swift", "writeInTime", "what was sent is sent again, and answered the same"),
        Reason("UnsentChange.swift", "store.remove", "the newer card is kept nevertheless; an old one shows again"),
        Reason("UnsentChange.swift", "self.store.remove", "a card that stays is shown again"),
        Reason("FileTransfer.swift", "file.close", "an attachment is hashed as a whole before it counts"),
        Reason("FileTransfer.swift", "handle.close", "it was only read"),
        Reason("App.swift", "quartet.playback.next", "another device may be quicker, and is right then"),
    ]
}
