//! Mutation tests of experiment files: none causes a panic, and each mistake is reported with a
//! place and a remedy.

use std::collections::BTreeMap;

use base::{Seed, Severity, Stream};
use workload::Overrides;
use workload::question::{Outline, experiment_in};

use crate::experiments::READ;
use crate::mutation::mutate;
use crate::render;

/// Number of mutants per file.
const MUTANTS: u64 = 200;

const FILES: [&str; 6] = [
    "[question]\nask = What does TLS cost?\nworkload = w.ini\nbet = throughput(read) -5% .. -25%\n\
     bet = response.p95(read) +0% .. +40%\nrounds = auto\ndelta = 2%, response.p99 10%\n\n\
     [arm plain]\noption.tls = off\n\n[arm tls]\noption.tls = require\n",
    "[question]\nask = What does an index cost?\nworkload = w.ini\nrounds = 12\n\
     restore = delete from t where id > ${rows}\n[arm without]\n[arm with]\n\
     before = create index i on t (id)\nafter = drop index i\n",
    "[question]\nask = How often?\nworkload = w.ini\ndesign = aa\nrounds = 20\n[arm same]\n\
     set.rows = 5k\n",
    "[question]\nask = Which?\nworkload = w.ini\ndifferences = several\nrestore = reload\n\
     [arm one]\nurl = testbed:postgres\nserver.work_mem = 64MB\nbefore-command = ./drop.sh\n\
     [arm two]\nurl = testbed:mariadb\nconcurrency(read) = 16\nthink(read) = 2ms\n",
    "[question]\nask = How much?\nworkload = w.ini\nrestore = vacuum t\n[capacity]\n\
     slo = p99(pay) < 30ms, failed(pay) < 1%\nvary = rate(pay)\nfirst = 1k\nhighest = 50k\n\
     trial = 20s\nbudget = 1h\nhold = 1h\n",
    "url = postgres://db/shop\nseed = 7\n[question]\nask = How many?\n[capacity]\n\
     slo = p99 < 30ms\nvary = concurrency(read)\n[read]\nquery = select 1\nconcurrency = 4\n",
];

/// Words that identify a message which contains its own remedy.
const MESSAGES_WITH_REMEDY: [&str; 5] =
    ["expected ", "such as `", "did you mean", ": units are ", ": this build has "];

#[test]
fn mutated_experiment_files_are_read_or_refused_with_place_and_remedy() {
    let files = BTreeMap::from([("w.ini".to_owned(), READ.as_bytes().to_vec())]);
    let (mut accepted, mut refused) = (0, 0);
    for (place, text) in FILES.into_iter().enumerate() {
        for number in 0..MUTANTS {
            let mut draw = Stream::new(Seed(place as u64), "mutation", "question").draw(number);
            let mut mutant = text.as_bytes().to_vec();
            // The first mutant is the file itself.
            for _ in 0..number.min(1 + draw.below(3)) {
                mutate(&mut mutant, &mut draw);
            }
            let Ok(text) = workload::decode(&mutant) else { continue };
            let (experiment, found) = experiment_in(&text, &Overrides::default(), &files);
            let shown = render(&text, &found);
            let Some(experiment) = experiment else {
                let errors = || found.iter().filter(|one| one.severity == Severity::Error);
                // A file without its section `[question]` is a workload file.
                let is_question = text.contains("[question]");
                assert!(!is_question || errors().count() > 0, "{text}\n{shown}");
                refused += 1;
                if text.contains("[read]") {
                    // The mistake may be in the workload.
                    continue;
                }
                for one in errors() {
                    let has_remedy = one.help.is_some()
                        || MESSAGES_WITH_REMEDY.iter().any(|words| one.message.contains(words));
                    assert!(one.span.is_some() && has_remedy, "{text}\n{shown}");
                }
                continue;
            };
            let printed = experiment.to_whole_text(&Overrides::default(), &files);
            let (again, found) = experiment_in(&printed, &Overrides::default(), &files);
            let again = again.unwrap_or_else(|| panic!("{printed}\n{}", render(&printed, &found)));
            assert_eq!(again.to_whole_text(&Overrides::default(), &files), printed);
            let question = experiment.to_text();
            assert_eq!(Outline::of_text(&question), Ok(experiment.outline()), "{question}");
            accepted += 1;
        }
    }
    assert!(accepted > 50 && refused > 200, "{accepted} accepted, {refused} refused");
}
