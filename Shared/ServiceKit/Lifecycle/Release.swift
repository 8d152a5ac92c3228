/// The version of the product: of its executables, its API and its schemas together.
enum Release {
    static let version = "0.1.0-dev"
}
