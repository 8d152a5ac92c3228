import Testing

@testable import SessionClientService

/// How the console's modules become one script.
@Suite("The console's modules")
struct JoinedModulesTests {
    @Test("each comes once, after those that it imports, and gives what it exports")
    func order() throws {
        let joined = try JoinedModules.joined(
            from: "app.js",
            [
                "app.js":
                    "import { h as make } from './core/view.js'\nimport { two } from './pages/two.js'\nmake(two)\n",
                "core/view.js": "const own = 1\nexport function h(one) { return own }\nexport class View {}\n",
                "pages/two.js":
                    "import { h } from '../core/view.js'\nexport const two = h()\nexport async function three() {}\n",
                "unused.js": "export const nothing = 0\n",
            ])
        #expect(
            joined == """
                export const modules = {}
                modules['core/view.js'] = (() => {
                const own = 1
                function h(one) { return own }
                class View {}

                return { h, View }
                })()
                modules['pages/two.js'] = (() => {
                const { h } = modules['core/view.js']
                const two = h()
                async function three() {}

                return { two, three }
                })()
                modules['app.js'] = (() => {
                const { h: make } = modules['core/view.js']
                const { two } = modules['pages/two.js']
                make(two)

                return {  }
                })()

                """)
    }

    @Test("comments with lines to themselves and what lines are indented by are left out, and nothing else is")
    func comments() throws {
        let joined = try JoinedModules.joined(
            from: "app.js",
            [
                "app.js": """
                /** One line. */
                const one = 1 // stays
                /**
                 * import { x } from './y.js'
                 */
                // A reason.
                const address = 'https://example.org' /* stays */
                if (one) {
                  show(`  ${one} `)
                }
                """
            ])
        #expect(
            joined == """
                export const modules = {}
                modules['app.js'] = (() => {
                const one = 1 // stays
                const address = 'https://example.org' /* stays */
                if (one) {
                show(`  ${one} `)
                }
                return {  }
                })()

                """)
    }

    @Test("what can't be joined is refused by name")
    func refusals() {
        for (sources, problem) in [
            (["app.js": "import { a } from './a.js'"], "app.js imports a.js, which isn't there"),
            (
                ["app.js": "import { a } from './a.js'", "a.js": "import { b } from './app.js'"],
                "a.js imports app.js, which imports it in turn"
            ),
            (["app.js": "import './a.js'", "a.js": ""], "app.js: «import './a.js'» can't be joined"),
            (
                ["app.js": "import { a, x as y } from './core/view.js'", "core/view.js": "export const a = 1"],
                "app.js imports x from core/view.js, which doesn't export it"
            ),
            (
                ["app.js": "import { b } from './a.js'", "a.js": "export const a = 1, b = 2"],
                "app.js imports b from a.js, which doesn't export it"
            ),
            (
                ["app.js": "import { a } from './a.js'\r\nexport default 1", "a.js": "export const a = 1\r\n"],
                "app.js: «export default 1» can't be joined"
            ),
            (["app.js": "export default 1"], "app.js: «export default 1» can't be joined"),
            (["app.js": "export let changing = 1"], "app.js: «export let changing = 1» can't be joined"),
            (["app.js": "const text = `one\n  two`"], "app.js: «const text = `one» can't be joined"),
        ] {
            #expect {
                try JoinedModules.joined(from: "app.js", sources)
            } throws: {
                "\($0)".hasPrefix(problem)
            }
        }
    }
}
