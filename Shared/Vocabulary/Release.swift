/// The version of the executables, the package and the schemas, which CHANGELOG.md begins with.
package enum Release {
    package static let version = "0.2.0-dev"
}
