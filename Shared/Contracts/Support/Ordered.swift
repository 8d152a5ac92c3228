/// Elements sorted by id, so that equal contents compare equal whatever their history.
///
/// Encoded as an array.
public struct Ordered<Element: Identifiable & Hashable & Sendable>: Hashable, Sendable
where Element.ID: Comparable & Sendable {
    private var elements: [Element] = []

    /// Of several elements with the same id, keeps the last.
    public init(_ elements: some Sequence<Element>) {
        for element in elements { self[element.id] = element }
    }

    /// The element with this id, found in logarithmic time. Setting nil removes it. A new element must have this id.
    public subscript(id: Element.ID) -> Element? {
        get {
            let index = place(of: id)
            return index < elements.count && elements[index].id == id ? elements[index] : nil
        }
        set {
            let index = place(of: id)
            let isThere = index < elements.count && elements[index].id == id
            switch newValue {
            case .some(let element):
                precondition(element.id == id, "an element is kept under its own id")
                if isThere { elements[index] = element } else { elements.insert(element, at: index) }
            case .none:
                if isThere { elements.remove(at: index) }
            }
        }
    }

    private func place(of id: Element.ID) -> Int {
        var low = 0
        var high = elements.count
        while low < high {
            let middle = (low + high) / 2
            if elements[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension Ordered: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { elements.count }
    /// The element at a position in the order of ids.
    public subscript(position: Int) -> Element { elements[position] }
}

extension Ordered: Codable where Element: Codable {
    /// Reads an array in any order.
    public init(from decoder: any Decoder) throws {
        self.init(try [Element](from: decoder))
    }

    public func encode(to encoder: any Encoder) throws {
        try elements.encode(to: encoder)
    }
}

extension Ordered: ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: Element...) {
        self.init(elements)
    }
}
