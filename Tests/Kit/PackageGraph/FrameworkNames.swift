/// The names that apps get at the top level from what most of them import beside this package, as far as anybody might choose
/// one of them here. A name of ours that is among them is ambiguous in every file that imports both.
enum FrameworkNames {
    /// By the module that an app imports. What a module exports again stands with it.
    static let all: [String: Set<String>] = [
        "ActivityKit": names(
            """
            Activity ActivityAttributes ActivityAuthorizationError ActivityAuthorizationInfo
            ActivityContent ActivityPreviewViewKind ActivityState ActivityStyle
            ActivityUIDismissalPolicy AlertConfiguration PushType
            """),
        "Combine": names(
            """
            AnyCancellable AnyPublisher AnySubscriber Cancellable ConnectablePublisher
            CurrentValueSubject CustomCombineIdentifierConvertible Deferred Empty Fail Future Just
            ObservableObject ObservableObjectPublisher PassthroughSubject Published Publisher
            Publishers Record Scheduler Subject Subscriber Subscribers Subscription Subscriptions
            TopLevelDecoder TopLevelEncoder
            """),
        // With CasePaths, Clocks, CombineSchedulers, ConcurrencyExtras, CustomDump, Dependencies, IdentifiedCollections,
        // IssueReporting, OrderedCollections, Perception, Sharing and SwiftNavigation, which it exports again, in part.
        "ComposableArchitecture": names(
            """
            ActionOf ActorIsolated AlertState AnimationClock AnyCasePath AnyClock
            AnyHashableSendable AnyPublisherClock AnySchedulerOf AppStorageKey BindableAction
            BindingAction BindingReducer BindingState BindingViewState BindingViewStore ButtonState
            ButtonStateRole Case CasePath CasePathable CasePathReflectable CaseReducer
            CaseReducerState CombineReducers ConfirmationDialogState CurrentValueRelay customDump
            DateGenerator Dependency DependencyContext DependencyKey DependencyValues diff
            DismissEffect Effect EffectOf EffectPublisher EffectTask EmptyReducer EnumReducer
            EphemeralState expectDifference expectNoDifference FileStorage FileStorageKey
            ForEachStore Identified IdentifiedAction IdentifiedActionOf IdentifiedArray
            IdentifiedArrayOf IfLetStore ImmediateClock InMemoryKey IsPresentedEffect IssueReporter
            IssueReporters IssueSeverity LockIsolated NavigationLinkStore NavigationStackStore
            NonExhaustiveTestStore ObservableState ObservationStateRegistrar ObserveToken
            OptionalPath OrderedDictionary OrderedSet PartialCaseIterable PartialCasePath
            Perceptible PerceptionRegistrar PersistenceKey PersistenceReaderKey prepareDependencies
            PresentationAction PresentationState Presents PreviewContext PreviewTrait
            RealSystemClock Reduce Reducer ReducerBuilder ReducerBuilderOf ReducerOf reportIssue
            Scope Shared SharedBinding SharedChangeTracker SharedContinuation SharedKey SharedReader
            SharedReaderKey SharedSubscriber SharedSubscription StackAction StackActionOf
            StackElementID StackState StackStateOf Store StoreOf StorePublisher StoreTask
            SwitchStore TaskResult TestClock TestDependencyKey TestScheduler TestStore TestStoreOf
            TestStoreTask TextState Transaction UIBinding UITransaction UncheckedSendable
            unimplemented UnimplementedClock UUIDGenerator ViewAction ViewStore ViewStoreOf
            ViewStorePublisher ViewStoreTask withDependencies withErrorReporting
            withEscapedDependencies withExpectedIssue withIssueReporters WithPerceptionTracking
            withRandomNumberGenerator WithViewStore
            """),
        "Foundation": names(
            """
            AffineTransform AttributeContainer AttributedString AttributedStringKey
            AttributedSubstring AttributeScope AttributeScopes AutoreleasingUnsafeMutablePointer
            Bundle ByteCountFormatStyle ByteCountFormatter CachedURLResponse Calendar CharacterSet
            CocoaError CodableWithConfiguration ComparisonResult ContiguousBytes CustomNSError Data
            DataProtocol Date DateComponents DateComponentsFormatter DateFormatter DateInterval
            DateIntervalFormatter Decimal DecodableWithConfiguration Dimension DirectoryEnumerator
            DiscreteFormatStyle EncodableWithConfiguration EnergyFormatter ErrorPointer Expression
            FileAttributeKey FileAttributeType FileHandle FileManager FileProtectionType FileWrapper
            FloatingPointFormatStyle FormatStyle Formatter Host HTTPCookie HTTPCookieStorage
            HTTPURLResponse IndexPath IndexSet InflectionRule InlinePresentationIntent InputStream
            IntegerFormatStyle ISO8601DateFormatter JSONDecoder JSONEncoder JSONSerialization
            LengthFormatter ListFormatStyle ListFormatter Locale LocalizedError
            LocalizedStringResource MassFormatter Measurement MeasurementFormatter MessagePort
            Morphology MutableDataProtocol NetService Notification NotificationCenter
            NotificationQueue NumberFormatter Observation Operation OperationQueue OutputStream
            ParseableFormatStyle ParseStrategy PersonNameComponents PersonNameComponentsFormatter
            Pipe Port PortMessage Predicate PredicateExpression PredicateExpressions Process
            ProcessInfo Progress ProgressManager ProgressReporter PropertyListDecoder
            PropertyListEncoder PropertyListSerialization RecoverableError ReferenceConvertible
            RunLoop Scanner SocketPort SortComparator SortDescriptor SortOrder Stream
            StringEncodingDetectionOptionsKey StringTransform TermOfAddress Thread TimeInterval
            Timer TimeZone UndoManager Unit UnitArea UnitDuration UnitLength UnitMass UnitSpeed URL
            URLAuthenticationChallenge URLCache URLComponents URLCredential URLError
            URLFileProtection URLFileResourceType URLProtectionSpace URLProtocol URLQueryItem
            URLRequest URLResourceKey URLResourceValues URLResponse URLSession
            URLSessionConfiguration URLSessionTask UserDefaults UUID XMLDocument XMLElement XMLNode
            XMLParser
            """),
        "GroupActivities": names(
            """
            GroupActivity GroupActivityActivationResult GroupActivityMetadata
            GroupActivityTransferRepresentation GroupSession GroupSessionEvent GroupSessionJournal
            GroupSessionMessenger GroupSessions GroupStateObserver Participant Participants
            SpatialTemplate SpatialTemplateConfiguration SpatialTemplateElement SystemCoordinator
            """),
        "Observation": names(
            """
            Observable ObservationIgnored ObservationRegistrar Observations ObservationTracked
            ObservationTracking withObservationTracking
            """),
        "Swift": names(
            """
            Actor Array AsyncIteratorProtocol AsyncSequence AsyncStream Bool CancellationError
            CaseIterable Character Clock Codable CodingKey Collection Comparable ContinuousClock
            Decodable Decoder Dictionary Duration Encodable Encoder Equatable Error Executor
            Hashable Hasher Identifiable InlineArray InstantProtocol Int Iterator KeyPath MainActor
            Mirror Never Optional OptionSet Range Regex RegexComponent Result Sendable Sequence Set
            Slice Span String Substring SuspendingClock Task TaskGroup TaskLocal TaskPriority UInt
            Unicode Void
            """),
        "SwiftUI": names(
            """
            AccessibilityNotification Alert AlertScene Alignment Anchor Angle AngularGradient
            Animatable AnimatablePair Animation AnyGesture AnyLayout AnyShape AnyTransition AnyView
            App AppStorage AsyncImage AsyncImagePhase Axis Bindable Binding Button ButtonRole
            ButtonStyle Canvas Capsule Circle Color ColorPicker ColorScheme CommandMenu Commands
            ContentMode ContentShapeKinds ContentUnavailableView ControlGroup ControlSize
            CoordinateSpace CustomAnimation DatePicker DisclosureGroup Divider DragGesture DropInfo
            Edge EditActions EditButton EditMode Ellipse EmptyView Environment EnvironmentKey
            EnvironmentObject EnvironmentValues EquatableView EventModifiers FetchRequest
            FileDocument FillStyle FocusState Font ForEach Form Gauge GeometryProxy GeometryReader
            Gesture GestureState Gradient GraphicsContext Grid GridItem GridRow Group GroupBox
            HelpLink HorizontalAlignment HStack Image ImageRenderer InsettableShape
            InspectorCommands KeyEquivalent Keyframes KeyframeTimeline KeyPress Label LabeledContent
            LabelStyle Layout LayoutDirection LayoutValueKey LazyHStack LazyVStack LinearGradient
            Link List ListStyle LocalizedStringKey LongPressGesture MagnifyGesture Material Menu
            MenuStyle Model ModifiedContent MoveCommandDirection NamedCoordinateSpace Namespace
            NavigationLink NavigationPath NavigationSplitView NavigationStack NavigationView
            ObservedObject OpenURLAction OutlineGroup PasteButton Path PhaseAnimator Picker
            PinnedScrollableViews PlaceholderTextShapeStyle PreferenceKey Preview PreviewProvider
            PrimitiveButtonStyle ProgressView ProjectionTransform ProposedViewSize Query
            RadialGradient Rectangle RedactionReasons RefreshAction RenameAction RoundedRectangle
            SafeAreaRegions Scene SceneBuilder ScenePhase SceneStorage ScrollPosition ScrollView
            ScrollViewProxy ScrollViewReader Section SecureField Settings Shader Shape ShapeStyle
            ShareLink Slider Spacer SpatialTapGesture Spring State StateObject Stepper StrokeStyle
            SubmitLabel SubmitTriggers Subview SwipeActions SymbolRenderingMode Tab Table
            TableColumn TableRow TabView TapGesture Text TextAlignment TextEditor TextField
            TextFieldStyle TimelineSchedule TimelineView Toggle ToggleStyle ToolbarContent
            ToolbarItem ToolbarItemGroup Transaction Transferable Transition UnitCurve UnitPoint
            VerticalAlignment View ViewBuilder ViewModifier ViewThatFits Visibility VStack
            WidgetFamily Window WindowGroup withAnimation withTransaction ZStack
            """),
        "Testing": names(
            """
            Attachable AttachableContainer AttachableWrapper Attachment Bug Comment ConditionTrait
            Confirmation confirmation CustomExecutionTrait CustomTestArgumentEncodable
            CustomTestStringConvertible ExitStatus ExitTest Expectation ExpectationFailedError Issue
            IssueHandlingTrait KnownIssueMatcher ParallelizationTrait SourceLocation SuiteTrait Tag
            Test TestScoping TestTrait TimeLimitTrait Trait withKnownIssue
            """),
    ]

    private static func names(_ text: String) -> Set<String> {
        Set(text.split(whereSeparator: \.isWhitespace).map(String.init))
    }
}
