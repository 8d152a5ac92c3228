public import ContactsContract
public import Postgres

// How the contract's types are stored in columns

extension AlarmAnswer: PostgresEncodable, PostgresDecodable {}
extension ResponderReach: PostgresEncodable, PostgresDecodable {}
