// An app that imports QuartetClient has the types that its states, requests and errors are made of.
@_exported public import API
@_exported public import ContactsContract
@_exported public import ContractSupport
@_exported public import NotificationsContract
@_exported public import SessionContract
@_exported public import Vocabulary
