package import QuartetVocabulary

extension MessageSet<any CommandBody> {
    /// A command as its service gets it: read from its bytes, and validated.
    package init(sent body: any CommandBody) throws {
        try self.init(type: type(of: body).type, version: type(of: body).version, body: try body.encoded())
        try self.body.validate()
    }
}

extension MessageSet<any EventBody> {
    /// An event as its readers get it: read from its bytes.
    package init(published event: Self) throws {
        let body = event.body
        try self.init(type: type(of: body).type, version: type(of: body).version, body: try body.encoded())
    }
}
