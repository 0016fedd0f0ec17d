//! Tests of the response times over time: in the probes of a run, and in fewer, longer sections for
//! display.

use analyze::Distribution;
use archive::Archive;
use base::Nanos;
use record::{EndKind, Kind, Ledger};

use crate::support::{JOB, Run, TestFolder, ended};

#[test]
fn window_over_time_is_made_of_merged_histograms() {
    let place = TestFolder::new();
    let mut run = Run::begin(&place.record());
    for second in 0..60 {
        for lane in [0, 1] {
            run.record_requests(lane, second, 1 + second % 3);
            run.end_second(lane, second);
        }
    }
    let Run { recorder, lanes, .. } = run;
    lanes.into_iter().for_each(Ledger::finish);
    recorder.finish(ended(EndKind::Completed, Nanos::from_secs(60))).unwrap();
    let archive = Archive::open(&place.record()).unwrap();
    let job = &lab::evidence(&archive).unwrap().jobs[0];
    // The run has a second of warm-up and thirty probes of two seconds, the last of which is cut
    // off after one. The probes are merged into at most twenty sections.
    assert_eq!((job.probes.len(), job.course.len()), (30, 15));
    for (number, (steps, part)) in job.course.iter().enumerate() {
        let probes = &job.probes[2 * number..2 * number + 2];
        assert_eq!(*steps, probes[0].0.start..probes[1].0.end);
        assert_eq!(part.count, probes[0].1.count + probes[1].1.count);
        let from = steps.start as u32;
        let merged = archive.histogram(JOB, Kind::Response, from..steps.end as u32);
        assert_eq!(*part, Distribution::of(&merged.unwrap()));
    }
}
