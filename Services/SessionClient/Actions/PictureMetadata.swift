import QuartetSessionContract

/// Removes what a picture says beyond what it shows: where it was taken, when, with what, by whom.
///
/// The pixels are copied as they are, not encoded again. Kept are the parts without which the picture would look
/// different: colour, transparency, animation, and which way is up.
enum PictureMetadata {
    /// - Returns: the picture without metadata and without anything behind its end; nil when its parts don't fit
    ///   together.
    static func removed(from bytes: [UInt8], type: ImageType) -> [UInt8]? {
        switch type {
        case .png: withoutPNGMetadata(bytes)
        case .jpeg: withoutJPEGMetadata(bytes)
        }
    }

    // MARK: PNG

    /// Chunks that change what is seen (Portable Network Graphics, third edition, section 11).
    private static let pngChunks: Set<String> = [
        "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "cHRM", "gAMA", "iCCP", "sBIT", "sRGB", "cICP", "mDCV", "cLLI", "bKGD",
        "pHYs", "acTL", "fcTL", "fdAT",
    ]

    /// A signature, then chunks: length, type, data, check sum.
    private static func withoutPNGMetadata(_ bytes: [UInt8]) -> [UInt8]? {
        var kept = Array(bytes.prefix(8))
        kept.reserveCapacity(bytes.count)
        var index = 8
        while bytes.count - index >= 12 {
            let length = number(bytes[index..<(index + 4)])
            guard length <= bytes.count - index - 12 else { return nil }
            let end = index + 12 + length
            let type = String(decoding: bytes[(index + 4)..<(index + 8)], as: UTF8.self)
            if pngChunks.contains(type) { kept += bytes[index..<end] }
            if type == "IEND" { return kept }
            index = end
        }
        return nil
    }

    // MARK: JPEG

    /// Segments from the first marker to the last (ITU-T T.81, annex B); each begins with 0xFF and its code.
    private static func withoutJPEGMetadata(_ bytes: [UInt8]) -> [UInt8]? {
        var kept: [UInt8] = [0xFF, 0xD8]
        kept.reserveCapacity(bytes.count)
        var hasOrientation = false
        var index = 2
        while index + 1 < bytes.count {
            guard bytes[index] == 0xFF else { return nil }
            let marker = bytes[index + 1]
            switch marker {
            case 0xFF:  // padding
                index += 1
                continue
            case 0xD9:
                return kept + [0xFF, 0xD9]
            case 0x01, 0xD0...0xD8:
                kept += bytes[index..<(index + 2)]
                index += 2
                continue
            default: break
            }
            guard bytes.count - index >= 4 else { return nil }
            let length = number(bytes[(index + 2)..<(index + 4)])
            guard length >= 2, bytes.count - index - 2 >= length else { return nil }
            let segment = bytes[index..<(index + 2 + length)]
            let content = segment.dropFirst(4)
            if marker == 0xE1, !hasOrientation, let orientation = orientation(inExif: content) {
                kept += exif(orientation: orientation)
                hasOrientation = true
            }
            if keeps(marker, content) { kept += segment }
            index = segment.endIndex
            if marker == 0xDA {
                let end = endOfScan(in: bytes, from: index)
                kept += bytes[index..<end]
                index = end
            }
        }
        return nil
    }

    /// Of the application's segments those that say how colours are meant: JFIF, an ICC profile, Adobe's transform.
    private static func keeps(_ marker: UInt8, _ content: ArraySlice<UInt8>) -> Bool {
        switch marker {
        case 0xE0: content.starts(with: Array("JFIF\0".utf8))
        case 0xE2: content.starts(with: Array("ICC_PROFILE\0".utf8))
        case 0xEE: content.starts(with: Array("Adobe".utf8))
        case 0xE1, 0xE3...0xED, 0xEF, 0xFE: false
        default: true
        }
    }

    /// Coded data goes up to a marker that neither stands for itself (0xFF00) nor restarts the coder.
    private static func endOfScan(in bytes: [UInt8], from start: Int) -> Int {
        var index = start
        while index + 1 < bytes.count {
            let next = bytes[index + 1]
            if bytes[index] == 0xFF, next != 0, next != 0xFF, !(0xD0...0xD7).contains(next) { return index }
            index += 1
        }
        return bytes.count
    }

    /// Which way is up (Exif 2.32, tag 0x0112), unless it is up already.
    private static func orientation(inExif content: ArraySlice<UInt8>) -> UInt8? {
        guard content.starts(with: Array("Exif\0\0".utf8)) else { return nil }
        let tiff = Array(content.dropFirst(6))
        guard tiff.count >= 8 else { return nil }
        let isLittleEndian = tiff.starts(with: Array("II".utf8))
        func value(_ range: Range<Int>) -> Int? {
            guard range.upperBound <= tiff.count else { return nil }
            return isLittleEndian ? number(tiff[range].reversed()) : number(tiff[range])
        }
        guard let directory = value(4..<8), let count = value(directory..<(directory + 2)) else { return nil }
        for entry in 0..<count {
            let place = directory + 2 + entry * 12
            guard let tag = value(place..<(place + 2)) else { return nil }
            guard tag == 0x0112 else { continue }
            guard let orientation = value((place + 8)..<(place + 10)), (2...8).contains(orientation) else { return nil }
            return UInt8(orientation)
        }
        return nil
    }

    /// A segment that says the orientation and nothing else.
    private static func exif(orientation: UInt8) -> [UInt8] {
        let tiff: [UInt8] = [
            0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8,  // big-endian; the first directory at byte 8
            0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0,  // one entry: a short
            0, 0, 0, 0,  // no further directory
        ]
        let content = Array("Exif\0\0".utf8) + tiff
        return [0xFF, 0xE1, 0, UInt8(content.count + 2)] + content
    }

    private static func number(_ bytes: some Collection<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
}
