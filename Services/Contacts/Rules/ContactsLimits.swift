import QuartetContactsContract
package import QuartetVocabulary

/// The numbers that contacts' rules use.
package struct ContactsLimits: Equatable, Sendable {
    /// per account
    package var contacts = 1000
    /// per account and direction, waiting for an answer
    package var requests = 100
    /// per account
    package var blocks = 1000
    /// between two pings to the same contact
    package var pingCooldown = SendPing.pause
    /// How long after the last recorded contact an account can still be reached, at least. Only a device's first contact of
    /// a day is recorded, so this is 30 days after the last one, or up to one more.
    package var reachWindow: Interval = .days(31)
    /// By how much more that is at most. Nobody can say how much it was, so what others see doesn't tell them the day.
    package var reachSpread: Interval = .days(3)
    /// How long after an account was reached again it counts as reachable, at most. Nobody can say how long it was.
    package var returnSpread: Interval = .days(1)
    /// How long a change of responders must last before the account is notified of it
    package var reachSettling: Interval = .seconds(60)
    /// How long one responder may be on an alarm, so that it isn't repeated
    package var longestOnIt: Interval = .hours(2)
    /// How long responders may be on an alarm in all, so that it isn't repeated. Session counts that, too, and decides
    package var longestHold: Interval = .hours(4)
    /// How long before their time on an alarm ends somebody is asked whether they are still on it, unless half of it is less
    package var renewalLead: Interval = .minutes(5)
    /// What must be left of it then, and what saying so again must add
    package var shortestRenewal: Interval = .minutes(1)
    /// How long after a responder said that the dependent is safe an alarm is closed, and for how long after the first who said so
    /// it isn't repeated
    package var safeRest: Interval = .days(1)
    /// How often a responder may answer one alarm without a pause
    package var freeAnswers = 5
    package var answerPause: Interval = .minutes(1)
    /// The same for whoever has said that help is needed, or that all is well: both are loud
    package var helpPause: Interval = .minutes(10)
    /// How many answers of those who are on it or can't do anything an alarm takes
    package var alarmAnswers = 50
    /// How long session has to close an alarm after that was decided
    package var closingTime: Interval = .minutes(10)
    /// Between two times that all are told of an alarm again because help is needed
    package var tellingPause: Interval = .minutes(15)

    /// How long tiers of responders wait in all because somebody is on an alarm
    package var longestTierHold: Interval = .hours(4)

    /// Between two alerts that pings of one responder raise, two pings of one that are added to the same alert, and two loud warnings of
    /// pings that one took back
    package var pingAlarmPause: Interval = .days(1)
    /// By how much the times at which pings are due after the end of quiet hours differ, from account to account
    package var pingSpread: Interval = .minutes(5)
    /// By how much a warning of a ping may be late without putting its alert off
    package var pingLateness: Interval = .seconds(5)
    /// How long after a ping was found unanswered it is said again, if it isn't known what came of it
    package var pingAlarmRetry: Interval = .minutes(15)

    package init() {}
}
