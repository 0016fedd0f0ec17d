//! Reasons why a check cannot be made.

use crate::counter_comparison::CounterComparison;

/// The reason why a check cannot be made.
#[derive(Clone, Debug, PartialEq)]
pub enum Obstacle {
    /// There is no job.
    NoJob,
    /// Time was simulated.
    VirtualTime,
    /// The record has requests but no observations.
    NothingObserved,
    /// Jobs or requests that a check cannot judge.
    Jobs(JobObstacle),
    /// Observations that a check lacks.
    Observation(ObservationObstacle),
    /// Figures of the calibration that a check lacks.
    Calibration(CalibrationObstacle),
    /// Counters of the server that a check cannot judge.
    Counters(CounterObstacle),
}

/// Jobs or requests that a check cannot judge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JobObstacle {
    /// No job has a schedule with a known number of due requests.
    NoSchedule,
    /// No job has a schedule with a known number of due requests in each second.
    NoScheduleOfSeconds,
    /// No job has a schedule of arrivals.
    NoArrivals,
    /// The run did not wait for all requests, or requests were left out because a file failed.
    NotWaitedFor,
    /// The offered load of every job exceeds the capacity.
    AllOverloaded,
    /// Requests piled up in a run whose target was unreachable at its end.
    TargetLost,
    /// No job has Poisson arrivals at one rate for long enough.
    NoPoissonArrivals {
        /// Minimum number of arrivals per second.
        per_s: f64,
        /// Minimum number of seconds.
        seconds: usize,
    },
    /// No job with Poisson arrivals has enough recorded times between arrivals.
    FewGaps {
        /// Minimum number of these times.
        fewest: u64,
    },
    /// No request was sent.
    NothingSent,
    /// Nothing was requested.
    NothingRequested,
    /// No job has a service time at a database.
    NoService,
    /// Requests arrive in too few intervals for a trend.
    FewIntervals {
        /// Minimum number of intervals.
        fewest: usize,
        /// Share of the requests that were open at the end of the window, if it is large: the load
        /// may exceed the capacity.
        open_share: Option<f64>,
    },
    /// The length of the warm-up was given.
    GivenWarmUp,
    /// A job does not run all the time.
    IntermittentJobs,
    /// The rate of a job varies intentionally.
    VaryingRate,
    /// No job that keeps up has enough requests in each part of the window.
    FewRequests {
        /// Minimum number of requests in a part.
        requests: u64,
        /// Minimum number of parts.
        parts: usize,
    },
    /// No closed job has clients that are always busy or in a pause of known length.
    NoBusyClients,
    /// No job has an expected number of rows.
    NoExpectedRows,
}

/// Observations that a check lacks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ObservationObstacle {
    /// The thread that notices stalls ended before the window did.
    WatcherEnded,
    /// Request threads spin, so they are always busy.
    Spinning,
    /// Times of the threads could not be read.
    ThreadsUnreadable,
    /// The run was too short for two readings of its threads.
    ThreadsReadOnce,
    /// Times of the processors could not be read.
    ProcessorsUnreadable,
    /// The processes of a named target on this machine were not identified during the whole window.
    NamedTargetNotIdentified,
    /// The processes of the database could not be distinguished from other programs.
    DatabaseNotIdentified,
    /// The database behind a pooler, a proxy or a tunnel was not identified.
    UpstreamNotIdentified,
    /// The run was too short, or the processes of the machine could not be read.
    ProgramsUnreadable,
    /// The two clocks could not be read together.
    ClocksUnreadable,
    /// The system does not report the processors' frequency.
    FrequencyUnknown,
    /// One of the three thirds of the window has too few readings of the frequency.
    FewReadings {
        /// Minimum number of readings.
        fewest: usize,
    },
}

/// Figures of the calibration that a check lacks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CalibrationObstacle {
    /// The load generator was not calibrated on this machine.
    NotCalibrated,
    /// No job uses a database of a calibrated kind.
    NoCalibratedRoute,
    /// No job has a service time at a database of a calibrated kind.
    NoCalibratedService,
    /// The calibration has no figures of the clock.
    ClockNotCalibrated,
}

/// Counters of the server that a check cannot judge.
#[derive(Clone, Debug, PartialEq)]
pub enum CounterObstacle {
    /// Jobs run programs, whose statements are unknown.
    ProgramsRun,
    /// Jobs use several targets, which may be one server.
    SeveralTargets,
    /// The counters of the server could not be read, for the reason that the server gave.
    AccountRefused(String),
    /// The record has no counters of a server.
    NoAccount,
    /// The counters of the server were not read after the run.
    AccountNotRead,
    /// The run was cut off, so open requests are unknown.
    CutOff,
    /// The server was restarted, or its counters were reset, during the run.
    CountersReset,
    /// The server has none of the counters that this program knows.
    NoKnownCounter,
    /// The counter of the server does not grow.
    CounterConstant,
    /// A job has a statement whose number of commits is unknown.
    UnknownCommits {
        /// Name of the job.
        job: String,
        /// First word of the statement.
        word: String,
    },
    /// PostgreSQL also counts commits of parallel workers.
    ParallelWorkers(CounterComparison),
    /// The server does not report the amount of log that it wrote.
    NoLogWritten,
    /// The server does not count checkpoints.
    CheckpointsUncounted,
}

impl From<JobObstacle> for Obstacle {
    fn from(obstacle: JobObstacle) -> Obstacle {
        Obstacle::Jobs(obstacle)
    }
}

impl From<ObservationObstacle> for Obstacle {
    fn from(obstacle: ObservationObstacle) -> Obstacle {
        Obstacle::Observation(obstacle)
    }
}

impl From<CalibrationObstacle> for Obstacle {
    fn from(obstacle: CalibrationObstacle) -> Obstacle {
        Obstacle::Calibration(obstacle)
    }
}

impl From<CounterObstacle> for Obstacle {
    fn from(obstacle: CounterObstacle) -> Obstacle {
        Obstacle::Counters(obstacle)
    }
}
