import Crypto
import Foundation
import Logging
import NotificationsService
import QuartetNotificationsContract
import ServiceKit
import Webhook

/// By what pushes are sent, as the settings say.
enum PushSettings {
    private static let webhookURL = Setting<WebhookAddress?>(
        "push.webhook.url", placeholder: "URL", default: nil,
        help:
            "The URL of a system that sends pushes to devices. It gets each push in a POST, except those that PUSH_APNS_…, PUSH_FCM_… or PUSH_WEB_… send. Without any of them, pushes are only logged and reach nobody."
    ) { text throws(SettingProblem) in
        guard let address = WebhookAddress(text) else {
            throw SettingProblem(
                expected: "the https:// URL of a system that sends pushes (on this machine, http:// will do)")
        }
        return address
    }
    private static let webhookKey = Setting<SymmetricKey?>(
        "push.webhook.key", placeholder: "TEXT", default: nil, isSecret: true,
        help: "The key that signs requests to that system, which verifies them with it."
    ) { text throws(SettingProblem) in
        SymmetricKey(data: Data(text.trimmingCharacters(in: .whitespacesAndNewlines).utf8))
    }

    private static let apnsKeyFile = Setting<String?>.text(
        "push.apns.key.file", placeholder: "PATH",
        help:
            "A file with the key (.p8) with which pushes to Apple's devices are signed. A new key in it is used without a restart."
    )
    private static let apnsKeyID = Setting<String?>.text(
        "push.apns.key.id", placeholder: "ID", help: "That key's id, ten characters.")
    private static let apnsTeam = Setting<String?>.text(
        "push.apns.team", placeholder: "ID", help: "The id of the team at Apple that has the key, ten characters.")
    private static let apnsTopic = Setting<String?>.text(
        "push.apns.topic", placeholder: "ID", help: "The bundle id of the app that gets the pushes.")
    private static let apnsURL = address(
        "push.apns.url", default: "https://api.push.apple.com",
        help: "Where Apple takes pushes; for apps signed for development, https://api.sandbox.push.apple.com.")
    private static let apnsIsCritical = Setting<Bool>.bool(
        "push.apns.critical", default: false,
        help:
            "Whether Apple has allowed the app critical alerts, which sound though the phone is muted. Alarms are sent as such, otherwise as time-sensitive."
    )

    private static let fcmAccountFile = Setting<String?>.text(
        "push.fcm.account.file", placeholder: "PATH",
        help:
            "A file with the key (JSON) of a service account of Google's, which sends pushes to Android devices. A new key in it is used without a restart."
    )
    private static let fcmURL = address(
        "push.fcm.url", default: "https://fcm.googleapis.com", help: "Where Firebase Cloud Messaging takes pushes.")

    private static let webKeyFile = Setting<String?>.text(
        "push.web.key.file", placeholder: "PATH",
        help:
            "A file with a private key (openssl ecparam -genkey -name prime256v1 -noout) with which pushes to browsers are signed. Browsers subscribe with its public key, which session-client needs as PUSH_WEB_PUBLIC_KEY."
    )
    private static let webSubject = Setting<String?>(
        "push.web.subject", placeholder: "URI", default: nil,
        help: "How browsers' push services can reach whoever runs this: mailto:someone@example.org, or an https:// URL."
    ) { text throws(SettingProblem) in
        let isURI = ["mailto:", "https://"].contains { text.hasPrefix($0) && text.count > $0.count }
        guard isURI, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), text.utf8.count <= 255 else {
            throw SettingProblem(expected: "mailto: with an e-mail address, or an https:// URL")
        }
        return text
    }
    private static let webIsPrivate = Setting<Bool>.bool(
        "push.web.private", default: false,
        help:
            "Whether browsers' push services may be at private addresses and other ports than 443, as in tests. Whoever registers a browser can then have this machine's network asked."
    )

    private static let authorities = Setting<String?>.text(
        "push.authorities.file", placeholder: "PATH",
        help: "A file of certificates (PEM) that push services' certificates may be signed with, beside the system's.")

    static let declared: [any SettingDeclaration] = [
        webhookURL, webhookKey, apnsKeyFile, apnsKeyID, apnsTeam, apnsTopic, apnsURL, apnsIsCritical, fcmAccountFile,
        fcmURL,
        webKeyFile, webSubject, webIsPrivate,
        authorities,
    ]

    private static func address(_ key: String, default url: String, help: String) -> Setting<String> {
        Setting(key, placeholder: "URL", default: url, shownDefault: url, help: help) { text throws(SettingProblem) in
            guard WebhookAddress(text) != nil, let url = URL(string: text), url.path().isEmpty, url.query() == nil,
                url.user() == nil, url.fragment() == nil
            else {
                throw SettingProblem(expected: "an https:// URL without a path (on this machine, http:// will do)")
            }
            return text
        }
    }

    /// The settings of platforms that have a sender of their own.
    private static let ownSenders: [(platform: PushPlatform, setting: Setting<String?>)] = [
        (.ios, apnsKeyFile), (.android, fcmAccountFile), (.web, webKeyFile),
    ]

    /// Whose alarms reach nobody whose app isn't open; nil if pushes to all phones and browsers that there are go somewhere. An operator whose
    /// app is for one platform needs no sender for the others. Devices of any other platform aren't counted: anybody can register one.
    /// - Parameter platforms: Of the devices that there are.
    static func problem(_ settings: Settings, for platforms: Set<PushPlatform>) -> String? {
        guard settings[webhookURL] == nil else { return nil }
        let isAnySet = ownSenders.contains { settings[$0.setting] != nil }
        // Where nothing is set, it is said before anybody relies on it.
        let missing = ownSenders.filter {
            settings[$0.setting] == nil && (!isAnySet || platforms.contains($0.platform))
        }
        guard !missing.isEmpty else { return nil }
        let (names, variables) = (list(missing.map(\.platform.rawValue)), list(missing.map(\.setting.variable)))
        return
            "pushes to \(names) are only logged, so an alarm reaches nobody there whose app isn't open: set \(variables), or PUSH_WEBHOOK_URL"
    }

    /// As in `a, b and c`.
    private static func list(_ words: [String]) -> String {
        words.count < 2 ? words.joined() : "\(words.dropLast().joined(separator: ", ")) and \(words.last ?? "")"
    }

    /// Settings that don't fit together, or files that can't be used.
    struct Unusable: Error, CustomStringConvertible {
        let description: String
    }

    /// What the settings describe; nil what they don't.
    struct Configured {
        let webhook: WebhookPushSender?
        let apns: APNsSender?
        let fcm: FCMSender?
        let web: WebPushSender?
    }

    /// - Throws: ``Unusable``, with what to do.
    static func senders(
        _ settings: Settings, client: PushClient, logger: Logger
    ) throws(Unusable) -> PushSenders {
        let configured = try configured(settings, client: client, logger: logger)
        var own: [PushPlatform: any PushSender] = [:]
        own[.ios] = configured.apns
        own[.android] = configured.fcm
        own[.web] = configured.web
        return PushSenders(configured.webhook ?? LoggedPushSender(logger: logger), own: own)
    }

    /// - Throws: ``Unusable``, with what to do.
    static func configured(
        _ settings: Settings, client: PushClient, logger: Logger
    ) throws(Unusable) -> Configured {
        if let problem = settings[webhookURL]?.problem(key: settings[webhookKey]) {
            throw Unusable(
                description: "\(problem): set PUSH_WEBHOOK_KEY_FILE to a file that contains the key")
        }
        let webhook = settings[webhookURL].map { WebhookPushSender(webhook: Webhook($0, key: settings[webhookKey])) }
        return Configured(
            webhook: webhook, apns: try apns(settings, client), fcm: try fcm(settings, client),
            web: try web(settings, logger, webhook ?? LoggedPushSender(logger: logger)))
    }

    /// - Parameter isImpatient: Whether to hear soon of a server that can't be reached.
    /// - Throws: ``Unusable`` if the file of further authorities can't be read.
    static func client(_ settings: Settings, isImpatient: Bool = false) throws(Unusable) -> PushClient {
        let file = settings[authorities]
        do {
            return try isImpatient ? .impatient(authorities: file) : PushClient(authorities: file)
        } catch {
            throw Unusable(
                description: "PUSH_AUTHORITIES_FILE must name a readable file of certificates in PEM: \(error)")
        }
    }

    private static func apns(_ settings: Settings, _ client: PushClient) throws(Unusable) -> APNsSender? {
        let parts = [apnsKeyFile, apnsKeyID, apnsTeam, apnsTopic]
        let missing = parts.filter { settings[$0] == nil }
        if missing.count == parts.count { return nil }
        guard let keyFile = settings[apnsKeyFile], let keyID = settings[apnsKeyID], let team = settings[apnsTeam],
            let topic = settings[apnsTopic]
        else {
            let names = missing.map(\.variable).joined(separator: ", ")
            throw Unusable(description: "pushes to Apple's devices need \(names), too")
        }
        do {
            return try APNsSender(
                .init(
                    url: settings[apnsURL], keyFile: keyFile, keyID: keyID, team: team, topic: topic,
                    hasCriticalAlerts: settings[apnsIsCritical]), client: client)
        } catch {
            throw Unusable(
                description: "PUSH_APNS_KEY_FILE must name a readable file with a key from Apple (.p8): \(error)")
        }
    }

    private static func fcm(_ settings: Settings, _ client: PushClient) throws(Unusable) -> FCMSender? {
        guard let file = settings[fcmAccountFile] else { return nil }
        do { return try FCMSender(url: settings[fcmURL], accountFile: file, client: client) } catch {
            throw Unusable(
                description:
                    "PUSH_FCM_ACCOUNT_FILE must name a readable file with a service account's key in JSON: \(error)")
        }
    }

    private static func web(
        _ settings: Settings, _ logger: Logger, _ others: any PushSender
    ) throws(Unusable) -> WebPushSender? {
        switch (settings[webKeyFile], settings[webSubject]) {
        case (nil, nil): return nil
        case (nil, _): throw Unusable(description: "pushes to browsers need PUSH_WEB_KEY_FILE, too")
        case (_, nil): throw Unusable(description: "pushes to browsers need PUSH_WEB_SUBJECT, too")
        case (let file?, let subject?):
            let allowsPrivate = settings[webIsPrivate]
            let client = StrangersClient(authorities: settings[authorities], allowsPrivate: allowsPrivate)
            let sender: WebPushSender
            do { sender = try WebPushSender(keyFile: file, subject: subject, client: client, others: others) } catch {
                throw Unusable(
                    description:
                        "PUSH_WEB_KEY_FILE must name a readable file with a private key of P-256 in PEM: \(error)")
            }
            logger.info(
                "pushes to browsers are signed; session-client needs the public key as PUSH_WEB_PUBLIC_KEY",
                metadata: ["public_key": "\(sender.publicKey)"])
            if allowsPrivate {
                logger.warning(
                    "PUSH_WEB_PRIVATE is set: pushes to browsers may go to private addresses, wherever a registered browser says"
                )
            }
            return sender
        }
    }
}
