// An app that imports QuartetClient has the types that its states, requests and errors are made of.
@_exported public import QuartetAPI
@_exported public import QuartetContactsContract
@_exported public import QuartetContractSupport
@_exported public import QuartetNotificationsContract
@_exported public import QuartetSessionContract
@_exported public import QuartetVocabulary
