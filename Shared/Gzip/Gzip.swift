import CZlib
package import Foundation

extension Data {
    /// Compressed as HTTP calls `gzip` (RFC 1952), for what is compressed once and sent often.
    /// - Returns: The bytes, as small as zlib makes them; nil if that doesn't make them smaller.
    package func gzipped() -> Data? {
        var stream = z_stream()
        // 15 bits are the largest window, 16 more ask for gzip's header and checksum.
        let begun = deflateInit2_(
            &stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard begun == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        var input = [UInt8](self)
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(input.count))))
        let status = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                return deflate(&stream, Z_FINISH)
            }
        }
        guard status == Z_STREAM_END, stream.total_out < UInt(input.count) else { return nil }
        return Data(output.prefix(Int(stream.total_out)))
    }
}
