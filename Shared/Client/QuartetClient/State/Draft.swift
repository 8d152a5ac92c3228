public import QuartetContactsContract

/// Values that a person edits field by field.
public protocol Fields: Codable, Hashable, Sendable {
    static var fields: [Field<Self>] { get }
}

/// One field of a value: how to compare and how to copy it.
public struct Field<Value: Sendable>: Sendable {
    public let name: String
    let isEqual: @Sendable (Value, Value) -> Bool
    let copy: @Sendable (_ from: Value, _ to: inout Value) -> Void

    public init<Member: Equatable & Sendable>(
        _ name: String, _ path: any WritableKeyPath<Value, Member> & Sendable
    ) {
        self.name = name
        isEqual = { $0[keyPath: path] == $1[keyPath: path] }
        copy = { $1[keyPath: path] = $0[keyPath: path] }
    }
}

/// What a person changed: from what they saw to what they want.
public struct Edit<Value: Fields>: Codable, Hashable, Sendable {
    public var base: Value
    public var edit: Value

    public init(base: Value, edit: Value) {
        self.base = base
        self.edit = edit
    }

    /// The fields that somebody else changed meanwhile, to something that neither of the two has.
    public func conflicts(with theirs: Value) -> [String] {
        Value.fields.filter { field in
            !field.isEqual(base, edit) && !field.isEqual(base, theirs) && !field.isEqual(edit, theirs)
        }.map(\.name)
    }

    /// Their value with the fields that this one changes.
    public func merged(with theirs: Value) -> Value {
        var merged = theirs
        for field in Value.fields where !field.isEqual(base, edit) { field.copy(edit, &merged) }
        return merged
    }

    /// What both change, each from what was there before both; nil if nothing is left of it.
    func merged(after earlier: Self) -> Self? {
        var (base, edit) = (base, edit)
        for field in Value.fields where !field.isEqual(earlier.base, earlier.edit) {
            // The newest wins.
            if field.isEqual(self.base, self.edit) { field.copy(earlier.edit, &edit) }
            field.copy(earlier.base, &base)
        }
        return Value.fields.contains { !$0.isEqual(base, edit) } ? Self(base: base, edit: edit) : nil
    }

    func overlaps(_ other: Self) -> Bool {
        Value.fields.contains { !$0.isEqual(base, edit) && !$0.isEqual(other.base, other.edit) }
    }

    /// The version to base it on: the one that is known here, unless that is from before what the person saw, or somebody else
    /// changed the same. Then the server says what there is.
    func version(_ version: Int64, of known: Value, orElse seen: Int64) -> Int64 {
        version > seen && conflicts(with: known).isEmpty ? version : seen
    }

    /// A member's new value; nil if it stays.
    func changed<Member: Equatable>(_ path: KeyPath<Value, Member>) -> Member? {
        base[keyPath: path] == edit[keyPath: path] ? nil : edit[keyPath: path]
    }
}

/// A form that a person fills in while the server's truth goes on. What they typed is kept until it is saved or discarded.
///
/// ```swift
/// var draft = Draft(ContactFields(contact))
/// draft.value.nickname = "Mum"
/// draft.rebase(onto: ContactFields(newer))        // when shared state changes
/// let edit = draft.beginSaving()
/// draft.endSaving(with: await Result { try await contacts.update(contact.id, edit) })
/// ```
public struct Draft<Value: Fields>: Hashable, Sendable {
    /// What the server has, as far as it is known.
    public private(set) var base: Value
    /// What the person wants.
    public var value: Value
    public private(set) var isSaving = false
    /// Why the last attempt to save it failed. The person's value is kept.
    public private(set) var error: QuartetError?
    /// Fields that somebody else changed as well.
    public private(set) var conflicts: [String] = []
    private var saving: Value?

    public init(_ base: Value) {
        self.base = base
        value = base
    }

    public var hasUnsavedChanges: Bool { value != base }

    /// Takes in what the server has now. Fields that the person didn't touch follow it; the others stay as typed.
    public mutating func rebase(onto new: Value) {
        let mine = Edit(base: base, edit: value)
        conflicts = mine.conflicts(with: new)
        value = mine.merged(with: new)
        base = new
    }

    /// What is to be sent. Typing may go on meanwhile.
    public mutating func beginSaving() -> Edit<Value> {
        isSaving = true
        error = nil
        saving = value
        return Edit(base: base, edit: value)
    }

    public mutating func endSaving(with result: Result<Void, QuartetError>) {
        isSaving = false
        defer { saving = nil }
        switch result {
        case .success:
            if let saving { base = saving }
            conflicts = []
        case .failure(let error): self.error = error
        }
    }

    /// Gives up what the person typed.
    public mutating func discard() { self = Self(base) }
}

/// What a person may change about a contact.
public struct ContactFields: Fields {
    public var nickname: String
    public var notes: String
    public var isMyResponder: Bool
    public var iAmResponder: Bool
    public var sendPings: Bool
    public var receivePings: Bool
    public var notifyOnCheckIn: Bool
    public var notifyOnMissedCheckIn: Bool

    public init(_ contact: Contact) {
        nickname = contact.nickname
        notes = contact.notes
        isMyResponder = contact.isMyResponder
        iAmResponder = contact.iAmResponder
        sendPings = contact.sendPings
        receivePings = contact.receivePings
        notifyOnCheckIn = contact.notifyOnCheckIn
        notifyOnMissedCheckIn = contact.notifyOnMissedCheckIn
    }

    public static let fields: [Field<Self>] = [
        Field("nickname", \.nickname), Field("notes", \.notes), Field("isMyResponder", \.isMyResponder),
        Field("iAmResponder", \.iAmResponder), Field("sendPings", \.sendPings),
        Field("receivePings", \.receivePings), Field("notifyOnCheckIn", \.notifyOnCheckIn),
        Field("notifyOnMissedCheckIn", \.notifyOnMissedCheckIn),
    ]
}

/// What a person may change about their own profile.
public struct ProfileFields: Fields {
    public var name: String?
    public var emergencyNote: String

    public init(name: String?, emergencyNote: String) {
        self.name = name
        self.emergencyNote = emergencyNote
    }

    public static let fields: [Field<Self>] = [Field("name", \.name), Field("emergencyNote", \.emergencyNote)]
}
