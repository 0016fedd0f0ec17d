//! Sentences of the reasons why a check cannot be made.

use analyze::Obstacle;
use analyze::finding::{
    CalibrationObstacle as C, ComparedCounter, CounterComparison, CounterObstacle as S,
    JobObstacle as J, ObservationObstacle as O,
};

use super::assert_complete;
use crate::words::obstacle::reason;

fn place(obstacle: &Obstacle) -> usize {
    match obstacle {
        Obstacle::NoJob => 0,
        Obstacle::VirtualTime => 1,
        Obstacle::NothingObserved => 2,
        Obstacle::Jobs(obstacle) => 3 + place_of_jobs(*obstacle),
        Obstacle::Observation(obstacle) => 21 + place_of_observation(*obstacle),
        Obstacle::Calibration(obstacle) => 32 + place_of_calibration(*obstacle),
        Obstacle::Counters(obstacle) => 36 + place_of_counters(obstacle),
    }
}

fn place_of_jobs(obstacle: J) -> usize {
    match obstacle {
        J::NoSchedule => 0,
        J::NoScheduleOfSeconds => 1,
        J::NoArrivals => 2,
        J::NotWaitedFor => 3,
        J::AllOverloaded => 4,
        J::NoPoissonArrivals { .. } => 5,
        J::FewGaps { .. } => 6,
        J::NothingSent => 7,
        J::NothingRequested => 8,
        J::NoService => 9,
        J::FewIntervals { .. } => 10,
        J::GivenWarmUp => 11,
        J::IntermittentJobs => 12,
        J::VaryingRate => 13,
        J::FewRequests { .. } => 14,
        J::NoBusyClients => 15,
        J::NoExpectedRows => 16,
        J::TargetLost => 17,
    }
}

fn place_of_observation(obstacle: O) -> usize {
    match obstacle {
        O::WatcherEnded => 0,
        O::Spinning => 1,
        O::ThreadsUnreadable => 2,
        O::ThreadsReadOnce => 3,
        O::ProcessorsUnreadable => 4,
        O::NamedTargetNotIdentified => 5,
        O::DatabaseNotIdentified => 6,
        O::UpstreamNotIdentified => 7,
        O::ProgramsUnreadable => 8,
        O::ClocksUnreadable => 9,
        O::FrequencyUnknown => 10,
        O::FewReadings { .. } => 11,
    }
}

fn place_of_calibration(obstacle: C) -> usize {
    match obstacle {
        C::NotCalibrated => 0,
        C::NoCalibratedRoute => 1,
        C::NoCalibratedService => 2,
        C::ClockNotCalibrated => 3,
    }
}

fn place_of_counters(obstacle: &S) -> usize {
    match obstacle {
        S::ProgramsRun => 0,
        S::SeveralTargets => 1,
        S::AccountRefused(_) => 2,
        S::NoAccount => 3,
        S::AccountNotRead => 4,
        S::CutOff => 5,
        S::CountersReset => 6,
        S::NoKnownCounter => 7,
        S::CounterConstant => 8,
        S::UnknownCommits { .. } => 9,
        S::ParallelWorkers(_) => 10,
        S::NoLogWritten => 11,
        S::CheckpointsUncounted => 12,
    }
}

/// Number of obstacles.
const ALL: usize = 49;

fn of_jobs() -> Vec<(Obstacle, &'static str)> {
    let obstacles = [
        (J::NoSchedule, "no job has a schedule that says how many requests are due"),
        (
            J::NoScheduleOfSeconds,
            "no job has a schedule that says how many requests are due in each second",
        ),
        (J::NoArrivals, "no job has a schedule of arrivals"),
        (J::NotWaitedFor, "the run did not wait for all requests, or a file did not have them"),
        (J::AllOverloaded, "the offered load exceeds the capacity of every job"),
        (J::TargetLost, "requests piled up, but the target was unreachable at the end of the run"),
        (
            J::NoPoissonArrivals { per_s: 5.0, seconds: 10 },
            "no job has Poisson arrivals at a constant rate of at least 5 per second for 10 s",
        ),
        (
            J::FewGaps { fewest: 100 },
            "no job has 100 recorded gaps between Poisson arrivals at a constant rate",
        ),
        (J::NothingSent, "no request was sent"),
        (J::NothingRequested, "nothing was requested"),
        (J::NoService, "no job has a service time at a database"),
        (
            J::FewIntervals { fewest: 5, open_share: None },
            "requests arrive in fewer than 5 intervals",
        ),
        (
            J::FewIntervals { fewest: 5, open_share: Some(0.667) },
            "requests arrive in fewer than 5 intervals, and 66.7 % stay open",
        ),
        (J::GivenWarmUp, "the length of the warm-up is given, not detected"),
        (J::IntermittentJobs, "some jobs are intermittent"),
        (J::VaryingRate, "a job has a varying rate"),
        (
            J::FewRequests { requests: 30, parts: 10 },
            "no job that keeps up has 30 requests in each of 10 parts of the window",
        ),
        (
            J::NoBusyClients,
            "no closed job has clients that only send requests and have a known mean think time",
        ),
        (J::NoExpectedRows, "no job says how many rows its statements return (`expect-rows`)"),
    ];
    obstacles.map(|(obstacle, words)| (obstacle.into(), words)).into()
}

fn of_observation() -> Vec<(Obstacle, &'static str)> {
    let obstacles = [
        (O::WatcherEnded, "the thread that detects stalls ended early"),
        (O::Spinning, "with --spin, a thread is busy even while it waits"),
        (O::ThreadsUnreadable, "/proc/self/task/*/schedstat could not be read"),
        (O::ThreadsReadOnce, "the run was too short for two samples of its threads"),
        (O::ProcessorsUnreadable, "/proc/stat could not be read"),
        (
            O::NamedTargetNotIdentified,
            "the processes of a named target on this machine were not identified, and could count \
             as other programs",
        ),
        (
            O::DatabaseNotIdentified,
            "the processes of the database could not be distinguished from other programs",
        ),
        (
            O::UpstreamNotIdentified,
            "a pooler, a proxy or a tunnel is in front of the database, whose processes were not \
             identified",
        ),
        (
            O::ProgramsUnreadable,
            "the run was too short, or the processes of the machine could not be read",
        ),
        (O::ClocksUnreadable, "the wall clock could not be compared with the monotonic clock"),
        (O::FrequencyUnknown, "the system does not report the processors' frequency"),
        (O::FewReadings { fewest: 5 }, "a third of the window has fewer than 5 readings"),
    ];
    obstacles.map(|(obstacle, words)| (obstacle.into(), words)).into()
}

fn of_calibration() -> Vec<(Obstacle, &'static str)> {
    let obstacles = [
        (C::NotCalibrated, "run `assay calibrate` once on this machine"),
        (C::NoCalibratedRoute, "no job uses a calibrated kind of database"),
        (C::NoCalibratedService, "no job has a service time at a calibrated kind of database"),
        (C::ClockNotCalibrated, "the calibration has no figures for the clock"),
    ];
    obstacles.map(|(obstacle, words)| (obstacle.into(), words)).into()
}

fn of_counters() -> Vec<(Obstacle, &'static str)> {
    let compared = CounterComparison {
        counter: ComparedCounter::Commits,
        server: 120_000.0,
        own: [7.0, 9.0],
        requests: [59_000.0, 60_000.0],
    };
    let obstacles = [
        (S::ProgramsRun, "the statements of the programs that were run are unknown"),
        (S::SeveralTargets, "jobs use several targets, which may be the same server"),
        (
            S::AccountRefused("permission denied".to_owned()),
            "the server's counters could not be read: permission denied",
        ),
        (S::NoAccount, "there are no server counters; SQLite and simulated servers have none"),
        (S::AccountNotRead, "the server's counters were not read after the run"),
        (S::CutOff, "the run was cut off, and its open requests are unknown"),
        (
            S::CountersReset,
            "the server was started again, or its statistics were reset, while the run went on",
        ),
        (S::NoKnownCounter, "the server has no supported counter"),
        (S::CounterConstant, "the server's counter does not increase"),
        (
            S::UnknownCommits { job: "read".to_owned(), word: "call".to_owned() },
            "[read] has a statement (`call …`) whose commit count is unknown",
        ),
        (
            S::ParallelWorkers(compared),
            "the server counted 120,000 commits; requests account for 59,000 to 60,000, assay's \
             own sessions for 9: parallel workers count as commits too, and only missing commits \
             would be noticed (`max_parallel_workers_per_gather = 0` allows an exact count)",
        ),
        (S::NoLogWritten, "the server does not show how much log it wrote"),
        (S::CheckpointsUncounted, "the server does not count checkpoints"),
    ];
    obstacles.map(|(obstacle, words)| (obstacle.into(), words)).into()
}

#[test]
fn every_obstacle_of_a_check_has_a_sentence() {
    let mut all = vec![
        (Obstacle::NoJob, "there is no job, so nothing was requested"),
        (Obstacle::VirtualTime, "time was simulated"),
        (
            Obstacle::NothingObserved,
            "the record has no observations of the machine or the database",
        ),
    ];
    all.extend(of_jobs().into_iter().chain(of_observation()));
    all.extend(of_calibration().into_iter().chain(of_counters()));
    for (obstacle, words) in &all {
        assert_eq!(reason(obstacle), *words);
    }
    let sentences: Vec<String> = all.iter().map(|(_, words)| (*words).to_owned()).collect();
    assert_complete(all.iter().map(|(obstacle, _)| place(obstacle)), ALL, &sentences);
}
