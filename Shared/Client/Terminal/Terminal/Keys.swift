/// What somebody pressed.
enum Key: Hashable, Sendable {
    case character(Character)
    /// Part of a text that was pasted: it is for fields, and never a command.
    case pasted(Character)
    case enter, tab, backTab, backspace, delete, escape
    case up, down, left, right, home, end, pageUp, pageDown
    /// Ctrl-C, Ctrl-L and Ctrl-Z.
    case interrupt, redraw, suspend
}

/// Makes keys of the bytes that a terminal sends, however they are cut.
struct KeyParser: Sendable {
    private var rest: [UInt8] = []
    private var isPasting = false

    /// Whether a lone Escape was seen: it may be the key, or the beginning of a sequence whose rest is on its way.
    /// Anything longer can only be the beginning of something, and waits for its rest however long that takes.
    var isWaiting: Bool { rest == [0x1B] && !isPasting }

    mutating func take(_ bytes: some Sequence<UInt8>) -> [Key] {
        rest += bytes
        var keys: [Key] = []
        while let (length, key) = next() {
            rest.removeFirst(length)
            if let key { keys.append(key) }
        }
        return keys
    }

    /// Nothing followed for a while.
    mutating func flush() -> [Key] {
        guard isWaiting else { return [] }
        rest = []
        return [.escape]
    }

    /// The next key and how many bytes it takes; nil if more has to come.
    private mutating func next() -> (Int, Key?)? {
        guard let first = rest.first else { return nil }
        switch first {
        case 0x1B: return sequence()
        case _ where isPasting && first < 0x20: return (1, first == 0x09 ? .pasted(" ") : nil)
        case 0x0D, 0x0A: return (1, .enter)
        case 0x09: return (1, .tab)
        case 0x7F, 0x08: return (1, .backspace)
        case 0x03: return (1, .interrupt)
        case 0x0C: return (1, .redraw)
        case 0x1A: return (1, .suspend)
        case 0..<0x20: return (1, nil)
        default: return character(first)
        }
    }

    private func character(_ first: UInt8) -> (Int, Key?)? {
        let length =
            switch first {
            case 0..<0x80: 1
            case 0xC2..<0xE0: 2
            case 0xE0..<0xF0: 3
            case 0xF0..<0xF5: 4
            default: 0
            }
        guard length > 0 else { return (1, nil) }
        guard rest.count >= length else {
            // What can't become a character any more isn't waited for.
            return rest.dropFirst().allSatisfy { $0 & 0xC0 == 0x80 } ? nil : (1, nil)
        }
        guard let character = String(validating: rest.prefix(length), as: UTF8.self)?.first else { return (1, nil) }
        return (length, isPasting ? .pasted(character) : .character(character))
    }

    /// Escape, or what begins with it: `ESC [ parameters letter` or `ESC O letter`.
    private mutating func sequence() -> (Int, Key?)? {
        guard rest.count > 1 else { return nil }
        guard rest[1] == UInt8(ascii: "[") || rest[1] == UInt8(ascii: "O") else {
            // Two Escapes, or Alt with a key: the key counts.
            return (1, rest[1] == 0x1B && !isPasting ? .escape : nil)
        }
        // Linux's console begins its function keys with two brackets, and one letter follows.
        let start = rest.starts(with: Array("\u{1B}[[".utf8)) ? 3 : 2
        guard let end = rest.dropFirst(start).firstIndex(where: { start == 3 || !(0x20...0x3F).contains($0) }) else {
            // No terminal sends one so long.
            return rest.count > 32 ? (rest.count, nil) : nil
        }
        // Another Escape, a control character or half of a letter: the rest of this one never comes.
        guard (0x20...0x7E).contains(rest[end]) else { return (end, nil) }
        guard start == 2 else { return (end + 1, nil) }
        let parameters = String(decoding: rest[2..<end], as: UTF8.self)
        return (end + 1, key(Character(Unicode.Scalar(rest[end])), parameters))
    }

    private mutating func key(_ letter: Character, _ parameters: String) -> Key? {
        // In what is pasted, a sequence is no key.
        guard !isPasting || (letter, parameters) == ("~", "201") else { return nil }
        switch (letter, parameters) {
        case ("A", _): return .up
        case ("B", _): return .down
        case ("C", _): return .right
        case ("D", _): return .left
        case ("H", _), ("~", "1"), ("~", "7"): return .home
        case ("F", _), ("~", "4"), ("~", "8"): return .end
        case ("Z", _): return .backTab
        case ("~", "3"): return .delete
        case ("~", "5"): return .pageUp
        case ("~", "6"): return .pageDown
        case ("~", "200"): isPasting = true
        case ("~", "201"): isPasting = false
        default: break
        }
        return nil
    }
}

extension Key {
    /// The keys that a line stands for where a terminal sends whole lines: a key's name, one character, or a text for a field.
    static func keys(ofLine line: String) -> [Self] {
        let named: [String: Self] = [
            "": .enter, "tab": .tab, "esc": .escape, "up": .up, "down": .down, "left": .left, "right": .right,
            "quit": .interrupt,
        ]
        if let key = named[line.lowercased()] { return [key] }
        if line.count == 1, let character = line.first { return [.character(character)] }
        return line.map(Key.pasted) + [.enter]
    }
}
