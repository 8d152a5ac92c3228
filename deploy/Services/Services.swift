// Nothing. This target depends on the four services' executables, so that `swift build --target services` builds these alone.
