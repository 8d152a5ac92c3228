public import Postgres
public import QuartetContactsContract

// How the contract's types are stored in columns

extension AlarmAnswer: PostgresEncodable, PostgresDecodable {}
extension ResponderReach: PostgresEncodable, PostgresDecodable {}
