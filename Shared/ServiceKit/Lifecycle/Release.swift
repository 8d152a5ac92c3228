/// The version of the executables, the API and the schemas.
enum Release {
    static let version = "0.1.0-dev"
}
