//! Reasons why a check cannot be made.

use analyze::Obstacle;
use analyze::finding::{CalibrationObstacle, CounterObstacle, JobObstacle, ObservationObstacle};
use base::units::grouped;

use super::counters::comparison;
use crate::number::{percent, plain};

/// Reason for which a backlog says nothing about the capacity of a target.
pub(super) const TARGET_LOST: &str =
    "requests piled up, but the target was unreachable at the end of the run";

/// Returns the reason in words.
pub(super) fn reason(obstacle: &Obstacle) -> String {
    match obstacle {
        Obstacle::NoJob => "there is no job, so nothing was requested".to_owned(),
        Obstacle::VirtualTime => "time was simulated".to_owned(),
        Obstacle::NothingObserved => {
            "the record has no observations of the machine or the database".to_owned()
        }
        Obstacle::Jobs(obstacle) => reason_of_jobs(*obstacle),
        Obstacle::Observation(obstacle) => reason_of_observation(*obstacle),
        Obstacle::Calibration(obstacle) => reason_of_calibration(*obstacle).to_owned(),
        Obstacle::Counters(obstacle) => reason_of_counters(obstacle),
    }
}

fn reason_of_jobs(obstacle: JobObstacle) -> String {
    let words = match obstacle {
        JobObstacle::NoSchedule => "no job has a schedule that says how many requests are due",
        JobObstacle::NoScheduleOfSeconds => {
            "no job has a schedule that says how many requests are due in each second"
        }
        JobObstacle::NoArrivals => "no job has a schedule of arrivals",
        JobObstacle::NotWaitedFor => {
            "the run did not wait for all requests, or a file did not have them"
        }
        JobObstacle::AllOverloaded => "the offered load exceeds the capacity of every job",
        JobObstacle::TargetLost => TARGET_LOST,
        JobObstacle::NoPoissonArrivals { per_s, seconds } => {
            return format!(
                "no job has Poisson arrivals at a constant rate of at least {} per second for {} s",
                plain(per_s),
                grouped(seconds as u64)
            );
        }
        JobObstacle::FewGaps { fewest } => {
            return format!(
                "no job has {} recorded gaps between Poisson arrivals at a constant rate",
                grouped(fewest)
            );
        }
        JobObstacle::NothingSent => "no request was sent",
        JobObstacle::NothingRequested => "nothing was requested",
        JobObstacle::NoService => "no job has a service time at a database",
        JobObstacle::FewIntervals { fewest, open_share } => {
            let open = open_share.map(|share| format!(", and {} stay open", percent(share)));
            let open = open.unwrap_or_default();
            return format!("requests arrive in fewer than {fewest} intervals{open}");
        }
        JobObstacle::GivenWarmUp => "the length of the warm-up is given, not detected",
        JobObstacle::IntermittentJobs => "some jobs are intermittent",
        JobObstacle::VaryingRate => "a job has a varying rate",
        JobObstacle::FewRequests { requests, parts } => {
            return format!(
                "no job that keeps up has {} requests in each of {parts} parts of the window",
                grouped(requests)
            );
        }
        JobObstacle::NoBusyClients => {
            "no closed job has clients that only send requests and have a known mean think time"
        }
        JobObstacle::NoExpectedRows => {
            "no job says how many rows its statements return (`expect-rows`)"
        }
    };
    words.to_owned()
}

fn reason_of_observation(obstacle: ObservationObstacle) -> String {
    let words = match obstacle {
        ObservationObstacle::WatcherEnded => "the thread that detects stalls ended early",
        ObservationObstacle::Spinning => "with --spin, a thread is busy even while it waits",
        ObservationObstacle::ThreadsUnreadable => "/proc/self/task/*/schedstat could not be read",
        ObservationObstacle::ThreadsReadOnce => {
            "the run was too short for two samples of its threads"
        }
        ObservationObstacle::ProcessorsUnreadable => "/proc/stat could not be read",
        ObservationObstacle::NamedTargetNotIdentified => {
            "the processes of a named target on this machine were not identified, and could count \
             as other programs"
        }
        ObservationObstacle::DatabaseNotIdentified => {
            "the processes of the database could not be distinguished from other programs"
        }
        ObservationObstacle::UpstreamNotIdentified => {
            "a pooler, a proxy or a tunnel is in front of the database, whose processes were not \
             identified"
        }
        ObservationObstacle::ProgramsUnreadable => {
            "the run was too short, or the processes of the machine could not be read"
        }
        ObservationObstacle::ClocksUnreadable => {
            "the wall clock could not be compared with the monotonic clock"
        }
        ObservationObstacle::FrequencyUnknown => {
            "the system does not report the processors' frequency"
        }
        ObservationObstacle::FewReadings { fewest } => {
            return format!("a third of the window has fewer than {fewest} readings");
        }
    };
    words.to_owned()
}

fn reason_of_calibration(obstacle: CalibrationObstacle) -> &'static str {
    match obstacle {
        CalibrationObstacle::NotCalibrated => "run `assay calibrate` once on this machine",
        CalibrationObstacle::NoCalibratedRoute => "no job uses a calibrated kind of database",
        CalibrationObstacle::NoCalibratedService => {
            "no job has a service time at a calibrated kind of database"
        }
        CalibrationObstacle::ClockNotCalibrated => "the calibration has no figures for the clock",
    }
}

fn reason_of_counters(obstacle: &CounterObstacle) -> String {
    let words = match obstacle {
        CounterObstacle::ProgramsRun => "the statements of the programs that were run are unknown",
        CounterObstacle::SeveralTargets => "jobs use several targets, which may be the same server",
        CounterObstacle::AccountRefused(why) => {
            return format!("the server's counters could not be read: {why}");
        }
        CounterObstacle::NoAccount => {
            "there are no server counters; SQLite and simulated servers have none"
        }
        CounterObstacle::AccountNotRead => "the server's counters were not read after the run",
        CounterObstacle::CutOff => "the run was cut off, and its open requests are unknown",
        CounterObstacle::CountersReset => {
            "the server was started again, or its statistics were reset, while the run went on"
        }
        CounterObstacle::NoKnownCounter => "the server has no supported counter",
        CounterObstacle::CounterConstant => "the server's counter does not increase",
        CounterObstacle::UnknownCommits { job, word } => {
            return format!("[{job}] has a statement (`{word} …`) whose commit count is unknown");
        }
        CounterObstacle::ParallelWorkers(compared) => {
            return format!(
                "{}: parallel workers count as commits too, and only missing commits would be \
                 noticed (`max_parallel_workers_per_gather = 0` allows an exact count)",
                comparison(compared)
            );
        }
        CounterObstacle::NoLogWritten => "the server does not show how much log it wrote",
        CounterObstacle::CheckpointsUncounted => "the server does not count checkpoints",
    };
    words.to_owned()
}
