//! Sentences of the reasons why a check cannot be made.

use analyze::Obstacle;
use analyze::finding::{
    CalibrationObstacle as C, Compared, Counter, CounterObstacle as S, JobObstacle as J,
    ObservationObstacle as O,
};

use super::is_complete;
use crate::words::obstacle::reason;

fn place(obstacle: &Obstacle) -> usize {
    match obstacle {
        Obstacle::NoJob => 0,
        Obstacle::VirtualTime => 1,
        Obstacle::NothingObserved => 2,
        Obstacle::Jobs(obstacle) => 3 + place_of_jobs(*obstacle),
        Obstacle::Observation(obstacle) => 20 + place_of_observation(*obstacle),
        Obstacle::Calibration(obstacle) => 31 + place_of_calibration(*obstacle),
        Obstacle::Counters(obstacle) => 35 + place_of_counters(obstacle),
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
    }
}

fn place_of_observation(obstacle: O) -> usize {
    match obstacle {
        O::WatcherEnded => 0,
        O::Spinning => 1,
        O::ThreadsUnreadable => 2,
        O::ThreadsReadOnce => 3,
        O::ProcessorsUnreadable => 4,
        O::SeveralTargetsHere => 5,
        O::DatabaseNotIdentified => 6,
        O::ProgramsUnreadable => 7,
        O::ClocksUnreadable => 8,
        O::FrequencyUnknown => 9,
        O::FewReadings { .. } => 10,
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
        S::CounterStands => 8,
        S::UnknownCommits { .. } => 9,
        S::ParallelWorkers(_) => 10,
        S::NoLogWritten => 11,
        S::CheckpointsUncounted => 12,
    }
}

/// Number of obstacles.
const ALL: usize = 48;

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
        (
            J::NoPoissonArrivals { per_s: 5.0, seconds: 10 },
            "no job has Poisson arrivals at one rate, 5 per second or more, for 10 s",
        ),
        (
            J::FewGaps { fewest: 100 },
            "no job has Poisson arrivals at one rate of which 100 gaps were recorded",
        ),
        (J::NothingSent, "no request was sent"),
        (J::NothingRequested, "nothing was requested"),
        (J::NoService, "no job has a service time at a database"),
        (J::FewIntervals { fewest: 5 }, "requests arrive in fewer than 5 intervals"),
        (J::GivenWarmUp, "its length was given, so it was not looked for"),
        (J::IntermittentJobs, "jobs come and go"),
        (J::VaryingRate, "the rate varies by intent"),
        (
            J::FewRequests { requests: 30, parts: 10 },
            "no job that keeps up has 30 requests in each of 10 parts of the window",
        ),
        (
            J::NoBusyClients,
            "no closed job has clients that do nothing but ask, and pause for a known time",
        ),
        (J::NoExpectedRows, "no job says how many rows its statements return (`expect-rows`)"),
    ];
    obstacles.map(|(obstacle, words)| (obstacle.into(), words)).into()
}

fn of_observation() -> Vec<(Obstacle, &'static str)> {
    let obstacles = [
        (O::WatcherEnded, "the thread that would notice did not last"),
        (O::Spinning, "with --spin a thread is busy whether it works or waits"),
        (O::ThreadsUnreadable, "/proc/self/task/*/schedstat could not be read"),
        (O::ThreadsReadOnce, "the run was too short: threads are looked at once a second"),
        (O::ProcessorsUnreadable, "/proc/stat could not be read"),
        (
            O::SeveralTargetsHere,
            "of several targets on this machine only the main one is told from other programs",
        ),
        (
            O::DatabaseNotIdentified,
            "the processes of the database could not be told from other programs",
        ),
        (
            O::ProgramsUnreadable,
            "the run was too short, or the processes of the machine could not be read",
        ),
        (O::ClocksUnreadable, "the clocks could not be read side by side"),
        (O::FrequencyUnknown, "the system does not tell the processors' frequency"),
        (O::FewReadings { fewest: 5 }, "a third of the window has fewer than 5 readings"),
    ];
    obstacles.map(|(obstacle, words)| (obstacle.into(), words)).into()
}

fn of_calibration() -> Vec<(Obstacle, &'static str)> {
    let obstacles = [
        (C::NotCalibrated, "run `assay calibrate` once on this machine"),
        (C::NoCalibratedRoute, "no job asks a database of a kind that is calibrated"),
        (
            C::NoCalibratedService,
            "no job has a service time at a database of a kind that is calibrated",
        ),
        (C::ClockNotCalibrated, "the calibration says nothing of the clock"),
    ];
    obstacles.map(|(obstacle, words)| (obstacle.into(), words)).into()
}

fn of_counters() -> Vec<(Obstacle, &'static str)> {
    let compared = Compared {
        counter: Counter::Commits,
        server: 120_000.0,
        own: [7.0, 9.0],
        requests: [59_000.0, 60_000.0],
    };
    let obstacles = [
        (S::ProgramsRun, "programs were run, and nobody knows what they asked"),
        (S::SeveralTargets, "jobs ask several targets, which may be one server"),
        (
            S::AccountRefused("permission denied".to_owned()),
            "the server's account could not be read: permission denied",
        ),
        (S::NoAccount, "there is no account of a server; SQLite and simulated servers keep none"),
        (S::AccountNotRead, "the server's account was not read behind the run"),
        (S::CutOff, "the run was cut off, and nobody knows what was open"),
        (
            S::CountersReset,
            "the server was started again, or its statistics were reset, while the run went on",
        ),
        (S::NoKnownCounter, "the server counts nothing that is known here"),
        (S::CounterStands, "the server's count does not grow"),
        (
            S::UnknownCommits { job: "read".to_owned(), word: "call".to_owned() },
            "[read] has a statement (`call …`) of which nobody knows how often it commits",
        ),
        (
            S::ParallelWorkers(compared),
            "the server counted 120,000 commits; requests account for 59,000 to 60,000, assay's \
             own sessions for 9: processes that help with a statement count as commits as well, \
             so that only commits that are missing would be noticed \
             (`max_parallel_workers_per_gather = 0` lets all be counted)",
        ),
        (S::NoLogWritten, "the server does not show how much log it wrote"),
        (S::CheckpointsUncounted, "the server does not count them"),
    ];
    obstacles.map(|(obstacle, words)| (obstacle.into(), words)).into()
}

#[test]
fn every_finding_has_a_sentence_if_its_check_is_not_possible() {
    let mut all = vec![
        (Obstacle::NoJob, "there is no job, so nothing was requested"),
        (Obstacle::VirtualTime, "time was simulated"),
        (Obstacle::NothingObserved, "the record says nothing of what went on beside the requests"),
    ];
    all.extend(of_jobs().into_iter().chain(of_observation()));
    all.extend(of_calibration().into_iter().chain(of_counters()));
    for (obstacle, words) in &all {
        assert_eq!(reason(obstacle), *words);
    }
    let sentences: Vec<String> = all.iter().map(|(_, words)| (*words).to_owned()).collect();
    is_complete(all.iter().map(|(obstacle, _)| place(obstacle)), ALL, &sentences);
}
