import QuartetAPI
import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionContract

/// Commands to accounts, contacts and notifications.
extension Endpoint {
    @ListBuilder<Endpoint> static var commandsOfAccounts: [Endpoint] {
        command(
            UpdateProfile.self, "Changes the caller's name and emergency note.",
            refusals: [.staleVersion])
        command(
            UpdateSecurityRequest.self, "Changes what the account demands of its devices.",
            refusals: [.confirmationRequired, .tooManyAttempts])
        command(
            RemovePhoneRequest.self, "Removes the account's phone.",
            refusals: [.confirmationRequired, .tooManyAttempts])
        command(CheckIn.self, "Checks in: the caller is well.", refusals: [.tooSoon])
        command(
            SetCheckInInterval.self, "Sets how often the caller has to check in.", refusals: [.staleVersion])
        command(SetCheckInReminders.self, "Sets how long before a deadline the caller is reminded.")
        command(SetCheckInGrace.self, "Sets how long after a missed deadline others hear of it.")
        command(
            SetDailyCheckIns.self, "Sets at which times of the day the caller has to check in.",
            refusals: [.tooSoon, .staleVersion])
        command(
            PauseCheckInsRequest.self, "Pauses the caller's check-ins; their responders are told.",
            refusals: [.checkInDue, .limitReached, .tooSoon, .confirmationRequired])
        command(ResumeCheckIns.self, "Ends the caller's pause.")
        command(RaiseAlert.self, "Alarms the caller's responders.")
        command(ClearAlert.self, "Ends the caller's alert.", refusals: [.alertChanged])
        command(
            StartTrip.self, "Starts a trip: unless the caller arrives in time, an alert is raised.",
            refusals: [.tripOn, .tooSoon])
        command(
            ExtendTrip.self, "Gives the caller's trip another end.", refusals: [.notFound, .tripMissed, .tooSoon])
        command(
            EndTrip.self, "Ends the caller's trip, and the alert that it made.",
            refusals: [.notFound, .alertChanged])
        command(
            RunDrillRequest.self, "Tells the caller's responders, once, that this is a drill and no alarm.",
            refusals: [
                .alarmOn, .checkInDue, .tripMissed, .deadlineNear, .tooSoon, .noResponder, .confirmationRequired,
            ])
    }

    @ListBuilder<Endpoint> static var commandsOfContacts: [Endpoint] {
        command(
            AddContactRequest.self, "Adds a contact by code, handle or phone, or asks them.",
            refusals: [
                .notFound, .yourself, .alreadyContact, .alreadyRequested, .blocked, .roleRequired, .limitReached,
                .tooManyLookUps,
            ])
        command(
            ApproveContactRequest.self, "Accepts somebody's request, as it was seen.",
            refusals: [.notFound, .requestChanged, .limitReached])
        command(DeclineContactRequest.self, "Declines somebody's request.", refusals: [.notFound])
        command(WithdrawContactRequest.self, "Withdraws a request to somebody.", refusals: [.notFound])
        command(
            RequestRoleChange.self, "Asks a contact to become their responder.", refusals: [.notContact])
        command(AcceptRoleChange.self, "Accepts a contact as responder.", refusals: [.notContact, .notFound])
        command(DeclineRoleChange.self, "Declines a contact as responder.", refusals: [.notContact, .notFound])
        command(WithdrawRoleChange.self, "Withdraws a request for a role.", refusals: [.notContact, .notFound])
        command(SetContactApproval.self, "Sets whether people who show the code have to be approved.")
        command(
            SetResponderTiers.self, "Sets who hears of a missed check-in later than the others.",
            refusals: [.notContact, .staleVersion])
        command(
            SetPingEscalation.self,
            "Sets how long a responder's ping, or everybody's, may stay unanswered before an alert is raised.",
            refusals: [.notContact])
        command(SetPingQuietHours.self, "Sets in which hours of the day unanswered pings raise no alert.")
        command(
            ResetContactCodeRequest.self, "Replaces the caller's contact code, so the old one opens nothing.")
        command(
            UpdateContact.self, "Changes what the caller keeps about a contact, and roles.",
            refusals: [.notContact, .staleVersion, .roleRequired, .consentRequired])
        command(RemoveContact.self, "Removes a contact, on both sides.", refusals: [.notContact])
        command(BlockContact.self, "Blocks an account.", refusals: [.yourself, .limitReached])
        command(UnblockContact.self, "Unblocks an account.", refusals: [.notFound])
        command(
            SendPing.self, "Asks a dependent whether they are well.",
            refusals: [.notContact, .notDependent, .pingsOff, .tooSoon])
        command(CancelPing.self, "Cancels a ping.", refusals: [.notContact])
        command(RespondToPing.self, "Answers a ping: the caller is well.", refusals: [.notContact])
        command(
            AcknowledgeAlarm.self,
            "Answers an alarm that the caller was told of: who is on it, who reached the person.",
            refusals: [.notFound, .notDependent, .tooSoon, .limitReached])
    }

    @ListBuilder<Endpoint> static var commandsOfNotifications: [Endpoint] {
        command(MarkRead.self, "Marks a notification as read.", refusals: [.notFound])
        command(AnswerDrill.self, "Says that the caller got somebody's drill.", refusals: [.notFound])
        command(
            ScheduleReminder.self, "Has the caller reminded of something, once, at a time.", refusals: [.limitReached])
        command(CancelReminder.self, "Takes back a reminder that wasn't delivered yet.")
        command(MarkAllRead.self, "Marks all notifications as read.")
        command(ClearNotifications.self, "Clears the selected notifications.")
        command(ShowNotificationsRequest.self, "Says that this device showed notifications.")
        command(
            RegisterPushRequest.self, "Has pushes sent to this device.", refusals: [.limitReached, .deviceSignedOut])
        command(UnregisterPushRequest.self, "Ends pushes to this device.")
    }

    @ListBuilder<Endpoint> static var operations: [Endpoint] {
        operation(
            ClearAllReceivedPingsRequest.self, "Answers every ping that waits for the caller, with one summary.")
        operation(RespondToAllPingsRequest.self, "Answers every ping that waits for the caller.")
        operation(
            CloseAccountRequest.self, "Closes the account for good and deletes what is kept about it.",
            refusals: [.confirmationRequired])
    }
}
