/// What a sender finds out about its credentials without telling anybody anything.
package enum SenderCheck: Hashable, Sendable {
    /// The push service accepts them.
    case accepted(String)
    /// It doesn't, or no push can get there.
    case refused(String)
    /// Only a push would show it, or the push service is out of order.
    case unknown(String)

    static let onlyPush = "only a push shows that: send a test (notifications.send_test_push)"

    /// There was no answer. Where none can be had, no push gets out, either; one that is late says nothing of that.
    static func unanswered(_ url: String, _ failure: PushClient.Failure) -> Self {
        failure.mayPass
            ? .unknown("\(url) is out of order: \(failure); ask again later")
            : .refused("\(url) can't be asked: \(failure)")
    }

    /// The answer is none of those that the push service's documents name for this question.
    /// - Parameters:
    ///   - text: Names the push service and the answer.
    ///   - setting: What says where it is.
    static func unexpected(_ answer: PushClient.Answer, _ text: String, _ url: String, _ setting: String) -> Self {
        answer.isOutOfOrder
            ? .unknown("\(text): it is out of order or has too much to do; ask again later")
            : .refused(
                "\(text), which isn't how it answers this: is \(url) (\(setting)) where it takes pushes, without a proxy in between?"
            )
    }
}
