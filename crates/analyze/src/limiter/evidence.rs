//! The numbers behind a limiter, with their names in documents.

use std::borrow::Cow;

/// A number that is evidence for a candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct EvidenceNumber {
    /// Measured quantity; its name includes the unit.
    pub kind: EvidenceKind,
    /// Value; usually a mean over the window.
    pub value: f64,
}

macro_rules! kinds {
    ($($kind:ident => $name:literal,)*) => {
        /// A quantity that is evidence for a limiter. The user's guide explains each quantity under
        /// its name.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum EvidenceKind {
            /// Sessions that wait for the locks of the table with this name.
            SessionsThatWaitFor(String),
            /// Processors that the program with this name uses.
            ProcessorsOf(String),
            $(#[doc = concat!("`", $name, "`.")] $kind,)*
        }

        impl EvidenceKind {
            /// Returns the name in documents.
            pub fn name(&self) -> Cow<'static, str> {
                Cow::Borrowed(match self {
                    EvidenceKind::SessionsThatWaitFor(table) => {
                        return format!("sessions_that_wait_for_{table}").into();
                    }
                    EvidenceKind::ProcessorsOf(program) => {
                        return format!("processors_of_{program}").into();
                    }
                    $(EvidenceKind::$kind => $name,)*
                })
            }
        }
    };
}

kinds! {
    AnsweredPerS => "answered_per_s",
    AnswersThatWaitToBeSent => "answers_that_wait_to_be_sent",
    BackgroundBytesShare => "background_bytes_share",
    BackgroundCpuShare => "background_cpu_share",
    BusiestDiskShare => "busiest_disk_share",
    BusiestThreadShare => "busiest_thread_share",
    BusyProcessorsShare => "busy_processors_share",
    BytesOfAnAnswer => "bytes_of_an_answer",
    BytesPerS => "bytes_per_s",
    BytesThatWaitToBeSent => "bytes_that_wait_to_be_sent",
    Clients => "clients",
    Connections => "connections",
    ConnectionsThatWaitForAnswers => "connections_that_wait_for_answers",
    ConnectionsWithUnreadRows => "connections_with_unread_rows",
    ConnectionsWithUnsentRows => "connections_with_unsent_rows",
    DatabaseCpuShare => "database_cpu_share",
    GeneratorBusiestShare => "generator_busiest_share",
    GroupMemoryBytes => "group_memory_bytes",
    GroupMemoryLimitBytes => "group_memory_limit_bytes",
    GroupPressureMemoryShare => "group_pressure_memory_share",
    ItsBytesPerS => "its_bytes_per_s",
    ItsFlushesPerS => "its_flushes_per_s",
    ItsMsPerOperation => "its_ms_per_operation",
    ItsOperationsPerS => "its_operations_per_s",
    LinkBytesPerS => "link_bytes_per_s",
    MajorFaultsPerS => "major_faults_per_s",
    OfferedPerS => "offered_per_s",
    PressureMemoryShare => "pressure_memory_share",
    Processors => "processors",
    ProcessorsOfOtherPrograms => "processors_of_other_programs",
    ProgramSocketsWithUnreadAnswers => "program_sockets_with_unread_answers",
    QuotaProcessors => "quota_processors",
    RanShare => "ran_share",
    RequestsInFlight => "requests_in_flight",
    RequestsPerS => "requests_per_s",
    RequestsThatStandStill => "requests_that_stand_still",
    RoundTripLeastMs => "round_trip_least_ms",
    SegmentsSentAgainPerS => "segments_sent_again_per_s",
    ServerRoundTripLeastMs => "server_round_trip_least_ms",
    ServerRoundTripMs => "server_round_trip_ms",
    ServerSocketsLimitedByReceiver => "server_sockets_limited_by_receiver",
    ServerSocketsWithUnreadRequests => "server_sockets_with_unread_requests",
    ServiceMs => "service_ms",
    Sessions => "sessions",
    SessionsActive => "sessions_active",
    SessionsAtWork => "sessions_at_work",
    SessionsIdle => "sessions_idle",
    SessionsInAPause => "sessions_in_a_pause",
    SessionsOfOthersActive => "sessions_of_others_active",
    SessionsReceiving => "sessions_receiving",
    SessionsThatWaitForDisks => "sessions_that_wait_for_disks",
    SessionsThatWaitForFlushes => "sessions_that_wait_for_flushes",
    SessionsThatWaitForLocks => "sessions_that_wait_for_locks",
    SessionsThatWaitToSend => "sessions_that_wait_to_send",
    SessionsWithEmptySockets => "sessions_with_empty_sockets",
    SessionsWithUnreadAnswers => "sessions_with_unread_answers",
    SessionsWithUnreadRequests => "sessions_with_unread_requests",
    ShareOfCeiling => "share_of_ceiling",
    ShareOfProcessor => "share_of_processor",
    ShareOfWindow => "share_of_window",
    StatementsPerRequest => "statements_per_request",
    SwappedInPagesPerS => "swapped_in_pages_per_s",
    ThrottledSPerS => "throttled_s_per_s",
    ThroughputWithItPerS => "throughput_with_it_per_s",
    ThroughputWithoutItPerS => "throughput_without_it_per_s",
    UsedProcessors => "used_processors",
    WaitedShare => "waited_share",
    WaitingShareOfResponseTime => "waiting_share_of_response_time",
    WantedProcessors => "wanted_processors",
}
