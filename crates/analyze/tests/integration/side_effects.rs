//! Side effects of an intermittent job on the others.

use std::convert::Infallible;

use analyze::limiting::{BackgroundWork, LimiterFinding};
use analyze::{
    Change, Component, Evidence, Figure, JobStep, PhaseName, SideEffects, Step, disturbances,
    summarize,
};
use base::{Seed, Stream};
use hdrhistogram::Histogram;
use record::{Balance, Kind, bucket_counts};

use crate::support::{answered, near, nothing, turn_bad};

/// Traffic for 90 s, and a clean-up at 30 s.
const ONCE: &str = "duration = 90s\n[read]\nquery = select 1\nrate = 100\n[clean-up]\nquery = \
                    delete\ncount = 1\nstart = 30s\n";

/// A run with the response times of each job by second.
struct Run {
    evidence: Evidence,
    times: Vec<Vec<Histogram<u64>>>,
}

impl Run {
    fn of(workload: &str) -> Run {
        let evidence = nothing(workload);
        let times = evidence.jobs.iter().map(|_| Vec::new()).collect();
        Run { evidence, times }
    }

    /// Adds this many requests of a job to every second, all answered in it after `ms`
    /// milliseconds.
    fn asking(mut self, job: usize, requests: u64, ms: f64) -> Run {
        for _ in self.evidence.steps.window() {
            let mut times = Kind::Response.histogram();
            times.record_n((ms * 1e6) as u64, requests).unwrap();
            self.push(job, requests, times);
        }
        self
    }

    /// Adds the requests of a queue with one server and exponential services (Lindley, 1952) of
    /// this mean in milliseconds, which arrive a hundred times a second. All requests of a second
    /// are answered in it.
    fn queueing(mut self, seed: u64, service_ms: impl Fn(usize) -> f64) -> Run {
        let mut draw = Stream::new(Seed(seed), "test", "queue").draw(0);
        let (mut now, mut busy_until) = (0.0, 0.0f64);
        let seconds = self.evidence.steps.len();
        let mut parts = vec![Kind::Response.histogram(); seconds];
        loop {
            now += draw.exponential() / 100.0;
            let second = now as usize;
            let Some(times) = parts.get_mut(second) else { break };
            busy_until = busy_until.max(now) + draw.exponential() * service_ms(second) / 1e3;
            times.saturating_record(((busy_until - now) * 1e9) as u64);
        }
        for times in parts {
            self.push(0, times.len(), times);
        }
        self
    }

    fn push(&mut self, job: usize, requests: u64, times: Histogram<u64>) {
        self.evidence.jobs[job].steps.push(answered(requests));
        self.times[job].push(times);
    }

    /// Adds a request of a job that is due in second `first` and answered in second `last`.
    fn acting(mut self, job: usize, first: usize, last: usize) -> Run {
        let steps = &mut self.evidence.jobs[job].steps;
        steps.resize(steps.len().max(last + 1), Step::default());
        steps[first].counts.arrivals += 1;
        steps[first].counts.balance = Balance::of(1, 0, 0, 0);
        steps[last].ends.completed += 1;
        self
    }

    fn evidence(mut self) -> Evidence {
        let read = |JobStep { job, step }: JobStep| {
            let times = self.times[job.index()].get(step);
            Ok::<_, Infallible>(times.map(bucket_counts).unwrap_or_default())
        };
        self.evidence.disturbances = disturbances(&self.evidence, read).unwrap();
        self.evidence
    }

    fn side_effects(self) -> Vec<SideEffects> {
        summarize(&self.evidence()).side_effects
    }
}

/// Returns the phases of the window and their stretches.
fn stretches(side_effects: &SideEffects) -> Vec<(PhaseName, Vec<(f64, f64)>)> {
    let phases = side_effects.phases.iter();
    phases.map(|phase| (phase.name, phase.stretches_s.clone())).collect()
}

#[test]
fn one_time_job_has_before_during_and_after() {
    let run = Run::of(ONCE).asking(0, 100, 1.0).acting(1, 30, 44);
    let [clean_up] = run.side_effects().try_into().unwrap();
    assert_eq!((clean_up.job.as_str(), clean_up.resolution_s), ("clean-up", 1.0));
    assert_eq!(clean_up.reference, PhaseName::Before);
    let expected = [
        (PhaseName::Before, vec![(0.0, 30.0)]),
        (PhaseName::During, vec![(30.0, 45.0)]),
        (PhaseName::After, vec![(45.0, 90.0)]),
    ];
    assert_eq!(stretches(&clean_up), expected);
    let lengths: Vec<f64> = clean_up.phases.iter().map(|phase| phase.length_s).collect();
    assert_eq!(lengths, [30.0, 15.0, 45.0]);
}

const CLEAN_UP: &str = "[clean-up]\nquery = delete\ncount = 1\nstart = 30s\n";

/// Returns a run in which a job gets only a tenth of its usual answers from 30 to 60 s.
fn slowed(traffic: &str, beside: &str) -> Run {
    let workload = format!("duration = 90s\n[read]\nquery = select 1\n{traffic}\n{beside}");
    let mut run = Run::of(&workload);
    for second in 0..90 {
        let requests = if (30..60).contains(&second) { 10 } else { 100 };
        let mut times = Kind::Response.histogram();
        times.record_n(1_000_000, requests).unwrap();
        run.push(0, requests, times);
    }
    run
}

/// Returns the limiter of a slowed run with a clean-up in the slow period.
fn limited_by(traffic: &str) -> Component {
    let run = slowed(traffic, CLEAN_UP).acting(1, 30, 59);
    summarize(&run.evidence()).limiter.component
}

#[test]
fn intermittent_job_limits_the_others() {
    assert_eq!(limited_by("concurrency = 2"), Component::BackgroundTask);
    // A job with a schedule, or an intermittent one, may have sent fewer requests by its plan.
    assert_ne!(limited_by("rate = 100"), Component::BackgroundTask);
    assert_ne!(limited_by("concurrency = 2\nstop = 80s"), Component::BackgroundTask);
}

#[test]
fn background_work_limits_the_jobs() {
    let purging = |s: u64| if (31..=60).contains(&s) { 10.0 } else { 0.0 };
    let run = at_work(slowed("concurrency = 2", ""), "purge", purging);
    let limiter = summarize(&run.evidence()).limiter;
    assert_eq!(limiter.component, Component::BackgroundTask);
    let LimiterFinding::Background(BackgroundWork::Intermittent {
        cause,
        is_background,
        job,
        with_per_s,
        without_per_s,
    }) = limiter.finding
    else {
        panic!("{:?}", limiter.finding);
    };
    assert_eq!((cause.as_str(), is_background, job.as_str()), ("purge", true, "read"));
    assert!(near(with_per_s, 10.0) && near(without_per_s, 100.0), "{with_per_s} {without_per_s}");
}

#[test]
fn timetable_has_between_phases() {
    let timetable = ONCE.replace("count = 1\nstart = 30s", "every = 30s");
    let run = Run::of(&timetable).asking(0, 100, 1.0).acting(1, 30, 32).acting(1, 60, 60);
    let expected = [
        (PhaseName::Before, vec![(0.0, 30.0)]),
        (PhaseName::During, vec![(30.0, 33.0), (60.0, 61.0)]),
        (PhaseName::Between, vec![(33.0, 60.0)]),
        (PhaseName::After, vec![(61.0, 90.0)]),
    ];
    assert_eq!(stretches(&run.side_effects()[0]), expected);
}

#[test]
fn pause_within_intermittent_traffic_belongs_to_its_phase() {
    let traffic = ONCE.replace("count = 1\nstart = 30s", "rate = 1\nstart = 10s\nstop = 40s");
    let run = Run::of(&traffic).asking(0, 100, 1.0).acting(1, 12, 12).acting(1, 38, 39);
    let expected = [
        (PhaseName::Before, vec![(0.0, 12.0)]),
        (PhaseName::During, vec![(12.0, 40.0)]),
        (PhaseName::After, vec![(40.0, 90.0)]),
    ];
    assert_eq!(stretches(&run.side_effects()[0]), expected);
}

/// A job that was active from the beginning is compared with the time after it.
#[test]
fn phase_after_is_the_reference_without_a_phase_before() {
    let stopped = ONCE.replace("count = 1\nstart = 30s", "stop = 40s");
    let run = Run::of(&stopped).asking(0, 100, 1.0).acting(1, 0, 39);
    let [stopped] = run.side_effects().try_into().unwrap();
    assert_eq!(stopped.reference, PhaseName::After);
    assert_eq!(stopped.phases.len(), 2);
}

/// A phase of five seconds before the job is too short for intervals. The phase between the job's
/// requests is long enough, and the difference is found.
#[test]
fn too_short_phase_before_is_not_a_reference() {
    let timetable = ONCE.replace("count = 1\nstart = 30s", "every = 5s");
    let is_slow = |second: usize| second >= 5 && second.is_multiple_of(5);
    let mut run = Run::of(&timetable).queueing(1, |second| if is_slow(second) { 8.0 } else { 2.0 });
    for second in (5..90).filter(|second| is_slow(*second)) {
        run = run.acting(1, second, second);
    }
    let report = run.side_effects().remove(0);
    assert_eq!(report.reference, PhaseName::Between);
    let means = report.changes.iter().filter(|change| change.figure == Figure::Mean);
    let phases: Vec<PhaseName> = means.map(|change| change.phase).collect();
    assert_eq!(phases, [PhaseName::During]);
}

#[test]
fn unfinished_request_is_in_flight_until_the_end() {
    let mut run = Run::of(ONCE).asking(0, 100, 1.0).acting(1, 30, 44);
    run.evidence.jobs[1].steps[44].ends.completed = 0;
    let expected =
        [(PhaseName::Before, vec![(0.0, 30.0)]), (PhaseName::During, vec![(30.0, 90.0)])];
    assert_eq!(stretches(&run.side_effects()[0]), expected);
}

#[test]
fn rejected_request_is_never_in_flight() {
    let mut run = Run::of(ONCE).asking(0, 100, 1.0).acting(1, 30, 30).acting(1, 50, 50);
    turn_bad(&mut run.evidence, 1, 50, [0, 1, 0]);
    let phases = run.side_effects().remove(0).phases;
    assert_eq!(phases[1].stretches_s, [(30.0, 31.0)]);
}

#[test]
fn without_anything_to_compare_there_are_no_side_effects() {
    let is_none = |run: Run| run.side_effects().is_empty();
    assert!(is_none(Run::of(ONCE).asking(0, 100, 1.0)), "it did nothing");
    assert!(is_none(Run::of(ONCE).asking(0, 100, 1.0).acting(1, 0, 89)), "it was always there");
    assert!(is_none(Run::of(ONCE).acting(1, 30, 44)), "there was nothing to disturb");
    assert!(is_none(Run::of(ONCE).acting(0, 10, 11).acting(1, 30, 44)), "in one part only");
    let traffic = ONCE.replace("count = 1\nstart = 30s", "rate = 1");
    assert!(is_none(Run::of(&traffic).asking(0, 100, 1.0).acting(1, 30, 44)), "it is traffic");
}

#[test]
fn a_job_does_not_disturb_its_own_parts() {
    let mix = "duration = 90s\n[mixed]\nmix = read: 80, write: 20\nrate = 10\nstart = 30s\n[read]\n\
               query = select 1\n[write]\nquery = select 2\n";
    let mut run = Run::of(mix);
    for job in 0..3 {
        run = run.acting(job, 30, 31).acting(job, 60, 61);
    }
    assert_eq!(run.side_effects(), []);
}

#[test]
fn figures_agree_with_the_phase() {
    let mut run = Run::of(ONCE).asking(0, 100, 1.0).acting(1, 30, 44);
    for second in 30..45 {
        turn_bad(&mut run.evidence, 0, second, [10, 0, 0]);
        run.times[0][second].reset();
        run.times[0][second].record_n(4_000_000, 90).unwrap();
    }
    let phases = run.side_effects().remove(0).phases;
    let figures: Vec<_> = phases.iter().map(|phase| &phase.jobs[0]).collect();
    let [before, during, after] = figures.try_into().unwrap();
    assert_eq!(before.throughput_per_s, after.throughput_per_s);
    assert_eq!(during.counts.balance, Balance::of(90 * 15, 150, 0, 0));
    assert_eq!((before.response.count, during.response.count), (3_000, 90 * 15));
    for (figure, value) in [
        (Figure::Throughput, 90.0),
        (Figure::Mean, 4e6),
        (Figure::Quantile(0), 4e6),
        (Figure::Quantile(3), 4e6),
    ] {
        let estimate = during.figure(figure).unwrap();
        assert!((estimate.value / value - 1.0).abs() < 1e-3, "{figure:?}: {estimate:?}");
    }
}

/// Returns the changes due to a clean-up from 30 s to 60 s that makes services longer by `factor`.
fn claims(seed: u64, factor: f64) -> Vec<Change> {
    let service_ms = |second| if (30..60).contains(&second) { 4.0 * factor } else { 4.0 };
    let run = Run::of(ONCE).queueing(seed, service_ms).acting(1, 30, 59);
    run.side_effects().remove(0).changes
}

#[test]
fn planted_difference_is_found() {
    const RUNS: u64 = 50;
    let finds = |seed: &u64| {
        let claims = claims(*seed, 1.7);
        claims.iter().any(|claim| {
            claim.phase == PhaseName::During && claim.job == "read" && claim.to > 1.5 * claim.from
        })
    };
    let found = (1..=RUNS).filter(finds).count();
    assert!(found >= 48, "{found} of {RUNS}");
}

#[test]
fn absent_difference_is_not_reported() {
    const RUNS: u64 = 200;
    let claimed = (1..=RUNS).filter(|seed| !claims(*seed, 1.0).is_empty()).count();
    assert!(claimed <= 6, "{claimed} of {RUNS}");
}

/// Neighbouring seconds of a nearly full queue are correlated. Without any effect, at most 5 % of
/// the runs report a change.
#[test]
fn absent_difference_of_correlated_times_is_not_reported() {
    const RUNS: u64 = 200;
    let claims = |seed| {
        let run = Run::of(ONCE).queueing(seed, |_| 9.0).acting(1, 30, 59);
        run.side_effects().remove(0).changes
    };
    let claimed = (1..=RUNS).filter(|seed| !claims(*seed).is_empty()).count();
    assert!(claimed <= 10, "{claimed} of {RUNS}");
}

#[test]
fn past_difference_is_not_reported_for_the_phase_after() {
    const RUNS: u64 = 50;
    let is_after = |claim: &Change| claim.phase == PhaseName::After;
    let claimed = (1..=RUNS).filter(|seed| claims(*seed, 1.5).iter().any(is_after)).count();
    assert!(claimed <= 2, "{claimed} of {RUNS}");
}

#[test]
fn too_short_phases_are_not_judged() {
    let run = Run::of(ONCE).queueing(1, |second| if second < 39 { 1.0 } else { 9.0 });
    let phases = |run: Run| {
        let clean_up = run.side_effects().remove(0);
        (clean_up.changes, clean_up.phases)
    };
    let (changes, phases) = phases(run.acting(1, 81, 89));
    assert_eq!(phases[1].jobs[0].response.mean_ns.unwrap().bounds, None);
    assert_eq!(changes, []);
}

#[test]
fn times_beyond_the_capacity_are_withheld_and_not_judged() {
    let mut run =
        Run::of(ONCE).queueing(1, |second| if second < 30 { 1.0 } else { 5.0 }).acting(1, 30, 89);
    for (second, step) in run.evidence.jobs[0].steps.iter_mut().enumerate() {
        step.ends.completed = if second < 30 { step.ends.completed } else { 50 };
    }
    let clean_up = run.side_effects().remove(0);
    let during = &clean_up.phases[1].jobs[0];
    assert!(during.is_withheld && during.figure(Figure::Mean).is_none());
    let figures: Vec<Figure> = clean_up.changes.iter().map(|change| change.figure).collect();
    assert_eq!(figures, [Figure::Throughput]);
}

#[test]
fn number_of_reported_side_effects_is_limited() {
    let one = "[c]\nquery = select 2\ncount = 1\nstart = 30s\n";
    let many: String = (0..30).map(|n| one.replace("[c]", &format!("[c{n}]"))).collect();
    let traffic = format!("duration = 90s\n[read]\nquery = select 1\nrate = 100\n{many}");
    let mut run = Run::of(&traffic).asking(0, 100, 1.0);
    for job in 1..=30 {
        run = run.acting(job, 30, 30);
    }
    let reported: Vec<String> = run.side_effects().into_iter().map(|it| it.job).collect();
    assert_eq!(reported.len(), analyze::MOST_DISTURBANCES);
    assert_eq!(reported[0], "c0");
}

#[test]
fn a_record_that_cannot_be_read_is_an_error() {
    let Run { evidence, .. } = Run::of(ONCE).asking(0, 100, 1.0).acting(1, 30, 44);
    let read = |JobStep { job, step }| match step {
        50 => Err("damaged"),
        _ => {
            assert_eq!(job, base::AccountId(0), "the job itself is not read");
            Ok(Vec::new())
        }
    };
    assert_eq!(disturbances(&evidence, read).unwrap_err(), "damaged");
}

/// Adds background work; `looks` returns the number of samples that show it in a second.
fn at_work(run: Run, name: &str, looks: impl Fn(u64) -> f64) -> Run {
    let mut run = run;
    let mut seen = 0.0;
    let points = (0..=90).map(|second| {
        seen += looks(second);
        (base::Nanos::from_secs(second), seen)
    });
    run.evidence.observed.push(analyze::Observed {
        component: "background".to_owned(),
        metric: name.to_owned(),
        points: points.collect(),
        ranges: Vec::new(),
    });
    run
}

#[test]
fn work_of_the_database_divides_the_window_as_a_job_does() {
    let alone = "duration = 90s\n[read]\nquery = select 1\nrate = 100\n";
    let slow = |second: usize| if (30..60).contains(&second) { 8.0 } else { 3.0 };
    let run = Run::of(alone).queueing(7, slow);
    let run = at_work(run, "vacuum: t", |s| if (31..=60).contains(&s) { 10.0 } else { 0.0 });
    let evidence = run.evidence();
    let [vacuum] = summarize(&evidence).side_effects.try_into().unwrap();
    assert_eq!((vacuum.job.as_str(), vacuum.is_background), ("vacuum: t", true));
    let expected = [
        (PhaseName::Before, vec![(0.0, 30.0)]),
        (PhaseName::During, vec![(30.0, 60.0)]),
        (PhaseName::After, vec![(60.0, 90.0)]),
    ];
    assert_eq!(stretches(&vacuum), expected);
    let effects = summarize(&evidence).effects;
    let reported: Vec<(&str, f64, bool, bool)> =
        effects.iter().map(|it| (it.cause.as_str(), it.at_s, it.began, it.to > it.from)).collect();
    assert_eq!(reported, [("vacuum: t", 30.0, true, true), ("vacuum: t", 60.0, false, false)]);
    // With rare samples, start and end of the work are less precise.
    assert_eq!(vacuum.resolution_s, 1.0);
    let seldom = format!("{alone}[observe]\nevery = 5s\n");
    let run = Run::of(&seldom).queueing(7, slow);
    let seldom = at_work(run, "vacuum: t", |s| if s == 35 { 10.0 } else { 0.0 }).side_effects();
    assert_eq!(seldom[0].resolution_s, 5.0);
    // Permanent work has nothing to be compared with, and harmless work has no effect.
    let always = at_work(Run::of(alone).queueing(7, slow), "purge", |_| 10.0).side_effects();
    assert_eq!(always, []);
    let harmless = Run::of(alone).queueing(7, |_| 3.0);
    let harmless = at_work(harmless, "purge", |s| if s > 40 { 10.0 } else { 0.0 });
    assert_eq!(summarize(&harmless.evidence()).effects, []);
}

#[test]
fn effect_of_a_brief_phase_is_judged_by_the_phase_after() {
    let run = |after: f64| {
        let service = move |second: usize| if second < 30 { 4.0 } else { after };
        summarize(&Run::of(ONCE).queueing(7, service).acting(1, 30, 30).evidence()).effects
    };
    let [effect] = run(1.5).try_into().expect("one effect");
    assert_eq!((effect.job.as_str(), effect.cause.as_str()), ("read", "clean-up"));
    assert_eq!((effect.at_s, effect.began, effect.times), (31.0, false, 1));
    assert!(effect.figure == Figure::Mean && effect.from > 2.0 * effect.to, "{effect:?}");
    assert_eq!(run(4.0), []);
    // Background work that follows the job is not named as the cause instead of the job. Without
    // the job, the background work is named.
    let work = |workload: &str, acts: bool| {
        let service = |second: usize| if second < 31 { 4.0 } else { 1.5 };
        let mut run = Run::of(workload).queueing(7, service);
        if acts {
            run = run.acting(1, 30, 30);
        }
        let run = at_work(run, "vacuum: t", |s| if (34..=36).contains(&s) { 9.0 } else { 0.0 });
        let effects = summarize(&run.evidence()).effects;
        effects.into_iter().map(|effect| effect.cause).collect::<Vec<String>>()
    };
    assert_eq!(work(ONCE, true), ["clean-up"]);
    assert_eq!(
        work("duration = 90s\n[read]\nquery = select 1\nrate = 100\n", false),
        ["vacuum: t"]
    );
}
