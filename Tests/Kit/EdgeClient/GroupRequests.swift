/// What every command to a group session may say: well formed, whether or not it can be done.
public enum GroupRequests {
    /// - Parameters:
    ///   - group: The session.
    ///   - other: The account of somebody besides the sender.
    ///   - file: An attachment's id.
    public static func all(to group: String, with other: String, file: String) -> [String: JSON] {
        let item: JSON = ["id": "01a1fc74-9a5b-7000-8000-000000000001", "title": "Song", "duration": 1_000_000]
        let id = item["id"]
        let (other, file): (JSON, JSON) = (.string(other), .string(file))
        let messages: [String: [String: JSON]] = [
            "ActivateGroupSession": ["contacts": [other]], "JoinGroupSession": [:], "LeaveGroupSession": [:],
            "EndGroupSession": [:], "RemoveParticipant": ["participant": other], "TransferHost": ["to": other],
            "ClaimSeat": ["seat": 0], "MoveSeat": ["seat": 1], "ReleaseSeat": [:], "StartGame": [:],
            "UpdateGame": ["expectedVersion": 1, "patch": ["turn": 2]], "FinishGame": ["expectedVersion": 1],
            "SendGroupMessage": ["type": "x"], "BeginAttachment": ["attachment": file, "size": 1],
            "AdoptChunks": ["attachment": file, "first": 0, "count": 1],
            "CompleteAttachment": ["attachment": file, "chunks": 1, "name": "a.png", "contentType": "image/png"],
            "RemoveAttachment": ["attachment": file], "SetPlayback": ["expectedItem": id, "isPlaying": true],
            "PlayItem": ["item": item], "NextItem": [:], "QueueInsert": ["items": [item]], "QueueMove": ["item": id],
            "QueueRemove": ["items": [id]], "DeclareReadiness": [:], "BeginSuspension": ["reason": "stalled"],
            "EndSuspension": [:],
        ]
        return messages.mapValues { .object($0.merging(["group": .string(group)]) { $1 }) }
    }
}
