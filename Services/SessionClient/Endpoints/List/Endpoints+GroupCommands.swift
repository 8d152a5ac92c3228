import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary

/// Commands to group sessions.
extension Endpoint {
    private static let always: [APIError.Code] = [.groupNotFound, .groupEnded, .notParticipant]

    private static func groupCommand<Body: MessageBody>(
        _ body: Body.Type, _ summary: String, _ refusals: APIError.Code...
    ) -> Endpoint {
        command(body, summary, refusals: always + refusals)
    }

    @ListBuilder<Endpoint> static var commandsOfGroups: [Endpoint] {
        command(
            CreateGroupSessionRequest.self, "Makes a group session, whose host the caller is.",
            refusals: [.needsProfile, .alreadyInSession, .tooManyGroups])
        groupCommand(
            ActivateGroupSessionRequest.self, "Invites contacts.", .notContact, .notHost, .limitReached,
            .groupFull, .tooSoon)
        command(
            JoinGroupSessionRequest.self, "Joins a group session.",
            refusals: [
                .groupNotFound, .groupEnded, .groupFull, .removedFromGroup, .needsProfile, .alreadyInSession,
                .tooManyGroups, .limitReached, .hostChanged,
            ])
        // Leaving or ending again changes nothing, and neither does leaving what is over.
        command(
            LeaveGroupSession.self, "Leaves a group session, or declines an invitation.", refusals: [.groupNotFound])
        groupCommand(
            RemoveParticipant.self, "Removes somebody, or withdraws an invitation.", .notHost, .participantNotFound)
        groupCommand(TransferHost.self, "Makes another participant the host.", .notHost, .participantNotFound)
        command(
            EndGroupSession.self, "Ends a group session for everyone.",
            refusals: [.groupNotFound, .notParticipant, .notHost])
        groupCommand(ClaimSeat.self, "Takes a seat.", .seatTaken, .alreadySeated, .seatNotFound)
        groupCommand(MoveSeat.self, "Moves to another seat.", .seatTaken, .notSeated, .seatNotFound)
        groupCommand(ReleaseSeat.self, "Frees a seat.", .notHost, .participantNotFound)
        groupCommand(StartGame.self, "Starts a game.", .notHost, .noSeatTaken, .gameRunning)
        groupCommand(
            UpdateGame.self, "Makes a move.", .staleVersion, .gameNotRunning, .notSeated, .notYourTurn)
        groupCommand(FinishGame.self, "Ends a game.", .staleVersion, .gameNotRunning, .notSeated)
        groupCommand(
            SendGroupMessage.self, "Sends a reliable message.", .participantNotFound, .messageTooLarge)
        groupCommand(
            BeginAttachment.self, "Reserves the room for an attachment.", .attachmentExists, .tooManyAttachments,
            .accountStorageFull, .groupStorageFull)
        groupCommand(
            AdoptChunks.self, "Has the session copy uploaded chunks.", .attachmentNotFound, .chunkMissing,
            .wrongChunkSize)
        groupCommand(
            CompleteAttachment.self, "Shows an attachment to everyone.", .attachmentNotFound, .attachmentExists,
            .chunkMissing, .contentMismatch)
        groupCommand(RemoveAttachment.self, "Removes an attachment.", .attachmentNotFound, .notHost)
    }

    @ListBuilder<Endpoint> static var commandsOfPlayback: [Endpoint] {
        groupCommand(SetPlayback.self, "Plays, pauses, seeks or changes the rate.", .itemChanged, .staleVersion)
        groupCommand(PlayItem.self, "Plays an item.", .itemChanged)
        groupCommand(NextItem.self, "Plays the next item of the queue.", .itemChanged)
        groupCommand(QueueInsert.self, "Adds items to the queue.", .limitReached)
        groupCommand(QueueMove.self, "Moves an item of the queue.", .itemNotFound)
        groupCommand(QueueRemove.self, "Removes items from the queue.")
        groupCommand(DeclareReadiness.self, "Promises to end one's suspensions, so the others wait.")
        groupCommand(BeginSuspension.self, "Has the others wait for the caller.", .notReady, .groupTooLarge)
        groupCommand(EndSuspension.self, "Ends the caller's suspension.")
    }
}
