#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// How many files and connections this process may have open at a time.
package enum OpenFiles {
    /// Raises the limit to the most that the system allows this process. What processes begin with is often 1024, for the
    /// sake of those that use select(2), which none of ours does.
    /// - Returns: The limit from now on; `Int.max` for none.
    @discardableResult
    package static func raiseLimit() -> Int {
        var limits = rlimit()
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limits) == 0 else { return .max }
        let before = limits.rlim_cur
        limits.rlim_cur = limits.rlim_max
        return Int(clamping: setrlimit(resource, &limits) == 0 ? limits.rlim_max : before)
    }
}
