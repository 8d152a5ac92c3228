import Testing

@testable import ServiceKit

#if canImport(Glibc)
    import Glibc
#endif

struct MemoryTrimTests {
    @Test("malloc's report says how much of what it holds is used, over all threads (T21)")
    func report() {
        let heap = """
            <heap nr="0">
            <sizes>
              <size from="33" to="48" total="96" count="2"/>
            </sizes>
            <total type="fast" count="2" size="96"/>
            <total type="rest" count="3" size="500"/>
            <system type="current" size="900"/>
            </heap>

            """
        let totals = """
            <total type="fast" count="4" size="200"/>
            <total type="rest" count="6" size="3000"/>
            <total type="mmap" count="1" size="50000"/>
            <system type="current" size="10000"/>
            <system type="max" size="20000"/>
            <aspace type="total" size="20000"/>
            </malloc>

            """
        #expect(MemoryTrim.used(in: "<malloc version=\"1\">\n" + heap + heap + totals) == 10_000 - 3200 + 50_000)
        #expect(MemoryTrim.used(in: "") == nil && MemoryTrim.used(in: heap) == nil)
    }

    #if canImport(Glibc)
        @Test("what was allocated counts as used until it is freed (T21)")
        func used() {
            let (before, size) = (MemoryTrim.used, 1 << 30)
            let block = malloc(size)
            #expect(MemoryTrim.used > before + size / 2)
            free(block)
            #expect(MemoryTrim.used < before + size / 2 && MemoryTrim.resident > 0)
        }
    #endif
}
