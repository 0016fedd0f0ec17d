//! Reasons why a check cannot be made.

use analyze::Obstacle;
use analyze::finding::{CalibrationObstacle, CounterObstacle, JobObstacle, ObservationObstacle};

use super::counters::comparison;

/// Returns the reason in words.
pub(super) fn reason(obstacle: &Obstacle) -> String {
    match obstacle {
        Obstacle::NoJob => "there is no job, so nothing was requested".to_owned(),
        Obstacle::VirtualTime => "time was simulated".to_owned(),
        Obstacle::NothingObserved => {
            "the record says nothing of what went on beside the requests".to_owned()
        }
        Obstacle::Jobs(obstacle) => of_jobs(*obstacle),
        Obstacle::Observation(obstacle) => of_observation(*obstacle),
        Obstacle::Calibration(obstacle) => of_calibration(*obstacle).to_owned(),
        Obstacle::Counters(obstacle) => of_counters(obstacle),
    }
}

fn of_jobs(obstacle: JobObstacle) -> String {
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
        JobObstacle::NoPoissonArrivals { per_s, seconds } => {
            return format!(
                "no job has Poisson arrivals at one rate, {per_s} per second or more, for \
                 {seconds} s"
            );
        }
        JobObstacle::FewGaps { fewest } => {
            return format!(
                "no job has Poisson arrivals at one rate of which {fewest} gaps were recorded"
            );
        }
        JobObstacle::NothingSent => "no request was sent",
        JobObstacle::NothingRequested => "nothing was requested",
        JobObstacle::NoService => "no job has a service time at a database",
        JobObstacle::FewIntervals { fewest } => {
            return format!("requests arrive in fewer than {fewest} intervals");
        }
        JobObstacle::GivenWarmUp => "its length was given, so it was not looked for",
        JobObstacle::IntermittentJobs => "jobs come and go",
        JobObstacle::VaryingRate => "the rate varies by intent",
        JobObstacle::FewRequests { requests, parts } => {
            return format!(
                "no job that keeps up has {requests} requests in each of {parts} parts of the \
                 window"
            );
        }
        JobObstacle::NoBusyClients => {
            "no closed job has clients that do nothing but ask, and pause for a known time"
        }
        JobObstacle::NoExpectedRows => {
            "no job says how many rows its statements return (`expect-rows`)"
        }
    };
    words.to_owned()
}

fn of_observation(obstacle: ObservationObstacle) -> String {
    let words = match obstacle {
        ObservationObstacle::WatcherEnded => "the thread that would notice did not last",
        ObservationObstacle::Spinning => "with --spin a thread is busy whether it works or waits",
        ObservationObstacle::ThreadsUnreadable => "/proc/self/task/*/schedstat could not be read",
        ObservationObstacle::ThreadsReadOnce => {
            "the run was too short: threads are looked at once a second"
        }
        ObservationObstacle::ProcessorsUnreadable => "/proc/stat could not be read",
        ObservationObstacle::SeveralTargetsHere => {
            "of several targets on this machine only the main one is told from other programs"
        }
        ObservationObstacle::DatabaseNotIdentified => {
            "the processes of the database could not be told from other programs"
        }
        ObservationObstacle::ProgramsUnreadable => {
            "the run was too short, or the processes of the machine could not be read"
        }
        ObservationObstacle::ClocksUnreadable => "the clocks could not be read side by side",
        ObservationObstacle::FrequencyUnknown => {
            "the system does not tell the processors' frequency"
        }
        ObservationObstacle::FewReadings { fewest } => {
            return format!("a third of the window has fewer than {fewest} readings");
        }
    };
    words.to_owned()
}

fn of_calibration(obstacle: CalibrationObstacle) -> &'static str {
    match obstacle {
        CalibrationObstacle::NotCalibrated => "run `assay calibrate` once on this machine",
        CalibrationObstacle::NoCalibratedRoute => {
            "no job asks a database of a kind that is calibrated"
        }
        CalibrationObstacle::NoCalibratedService => {
            "no job has a service time at a database of a kind that is calibrated"
        }
        CalibrationObstacle::ClockNotCalibrated => "the calibration says nothing of the clock",
    }
}

fn of_counters(obstacle: &CounterObstacle) -> String {
    let words = match obstacle {
        CounterObstacle::ProgramsRun => "programs were run, and nobody knows what they asked",
        CounterObstacle::SeveralTargets => "jobs ask several targets, which may be one server",
        CounterObstacle::AccountRefused(why) => {
            return format!("the server's account could not be read: {why}");
        }
        CounterObstacle::NoAccount => {
            "there is no account of a server; SQLite and simulated servers keep none"
        }
        CounterObstacle::AccountNotRead => "the server's account was not read behind the run",
        CounterObstacle::CutOff => "the run was cut off, and nobody knows what was open",
        CounterObstacle::CountersReset => {
            "the server was started again, or its statistics were reset, while the run went on"
        }
        CounterObstacle::NoKnownCounter => "the server counts nothing that is known here",
        CounterObstacle::CounterStands => "the server's count does not grow",
        CounterObstacle::UnknownCommits { job, word } => {
            return format!(
                "[{job}] has a statement (`{word} …`) of which nobody knows how often it commits"
            );
        }
        CounterObstacle::ParallelWorkers(compared) => {
            return format!(
                "{}: processes that help with a statement count as commits as well, so that only \
                 commits that are missing would be noticed (`max_parallel_workers_per_gather = 0` \
                 lets all be counted)",
                comparison(compared)
            );
        }
        CounterObstacle::NoLogWritten => "the server does not show how much log it wrote",
        CounterObstacle::CheckpointsUncounted => "the server does not count them",
    };
    words.to_owned()
}
