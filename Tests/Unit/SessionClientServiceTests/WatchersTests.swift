import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary
import TestKit
import Testing

@testable import SessionClientService

@Suite("Session-client: streams that a sign-out ends")
struct WatchersTests {
    @Test("a sign-out looks at the streams of its device or account only, however many others are open (T22)")
    func many() {
        var watchers = Watchers()
        let ended = Observed<[DeviceID]>([])
        let (devices, accounts) = ((0..<20_000).map { _ in DeviceID.new() }, (0..<10_000).map { _ in AccountID.new() })
        for (number, device) in devices.enumerated() {
            watchers.add(UInt64(number), device: device, account: accounts[number / 2]) { _ in
                ended.update { $0.append(device) }
            }
        }
        for device in devices.prefix(1000) { for end in watchers.remove(device: device) { end(StreamEnd(.signedOut)) } }
        #expect(ended.value == Array(devices.prefix(1000)))
        #expect(watchers.looks == 1000)
        for account in accounts[500..<1000] {
            for end in watchers.remove(account: account) { end(StreamEnd(.signedOut)) }
        }
        #expect(Set(ended.value) == Set(devices.prefix(2000)))
        #expect(watchers.looks == 2000)
        let (gone, left) = (watchers.remove(5) != nil, watchers.remove(5000) != nil)
        #expect(!gone && left)
        let none = watchers.remove(device: devices[5000])
        #expect(none.isEmpty && watchers.count == 17_999)
        let rest = watchers.removeAll()
        #expect(rest.count == 17_999 && watchers.count == 0)
    }
}
