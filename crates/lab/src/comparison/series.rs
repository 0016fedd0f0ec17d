//! The identity of the series of records to which a run belongs.

use archive::Archive;
use workload::question::VariedLoad;

use super::ComparedRun;
use super::conditions::{ROW_COUNT_PREFIX, line_name, plan_lines};
use super::work::first_difference;

/// Scheme of the URLs of simulated servers.
const SIMULATED: &str = "sim:";

/// Settings of the load generator that belong to the work of a run.
const GENERATOR_CONDITIONS: [&str; 3] = ["time", "threads", "spin"];

/// Name of the section of a capacity search.
const CAPACITY: &str = "capacity";

/// Name of the section of a search for saturation.
const SATURATE: &str = "saturate";

/// Key that a capacity search sets for each trial, in addition to the varied rate or concurrency.
const DURATION: &str = "duration";

/// The work of a run, and its servers. Records with equal keys form one series.
///
/// The machine, its network and the settings of the servers do not belong to the key, because a
/// history is meant to show the effect of changes to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesKey {
    /// URLs of the main target and of the named targets, without passwords. The options of a
    /// simulated server are left out, because settings of a server do not belong to the key.
    pub servers: Vec<String>,
    /// Lines of the plan, contents of its files and options of the load generator: names and
    /// values.
    work: Vec<(String, String)>,
}

impl SeriesKey {
    /// Returns the key of a run that was read from this record.
    pub fn of(archive: &Archive, run: &ComparedRun) -> SeriesKey {
        let header = archive.header();
        let main = Some(header.target.as_str()).filter(|url| !url.is_empty());
        let servers = main.into_iter().chain(named_urls(&header.plan));
        let conditions = &run.conditions;
        let rows = conditions.data.iter().filter(|(name, _)| name.starts_with(ROW_COUNT_PREFIX));
        let is_of_generator =
            |(name, _): &&(String, String)| GENERATOR_CONDITIONS.contains(&name.as_str());
        let of_generator = conditions.environment.iter().filter(is_of_generator);
        let work = conditions.plan.iter().chain(rows).chain(&conditions.files);
        SeriesKey {
            servers: servers.map(server).collect(),
            work: work.chain(of_generator).cloned().collect(),
        }
    }

    /// Returns the key of a capacity search; `trial` is the key of a trial, `load` the varied rate
    /// or concurrency, and `question` the printed experiment. The varied load and the length of the
    /// run differ from trial to trial, so the lines of the search in `question` replace them.
    pub fn of_search(trial: SeriesKey, load: &VariedLoad, question: &str) -> SeriesKey {
        trial.with_lines_of(CAPACITY, question, &[DURATION.to_owned(), line_of(load)])
    }

    /// Returns the key of runs whose rate or concurrency was found by a search for saturation;
    /// `run` is the key of a run, `load` names the varied key, and `question` is the printed
    /// experiment. The load that was found differs from experiment to experiment, so the lines of
    /// the search in `question` replace it.
    pub fn of_saturated(run: SeriesKey, load: &VariedLoad, question: &str) -> SeriesKey {
        run.with_lines_of(SATURATE, question, &[line_of(load)])
    }

    /// Replaces lines of the plan by the lines of a section of the printed experiment.
    fn with_lines_of(self, section: &str, question: &str, replaced: &[String]) -> SeriesKey {
        let of_question = line_name(section, "");
        let mut work = plan_lines(question);
        work.retain(|(name, _)| name.contains(&of_question));
        work.extend(self.work.into_iter().filter(|(name, _)| !replaced.contains(name)));
        SeriesKey { work, ..self }
    }

    /// Returns the name of the first difference between the work of two runs, and both values;
    /// `None` for a value that does not exist.
    pub fn difference<'k>(
        &'k self,
        other: &'k SeriesKey,
    ) -> Option<(&'k str, [Option<&'k str>; 2])> {
        first_difference(&self.work, &other.work)
    }
}

/// Returns the name of the plan line that holds the varied rate or concurrency.
fn line_of(load: &VariedLoad) -> String {
    line_name(load.job(), load.key())
}

/// Returns the URLs of the sections `[target NAME]` of a printed plan.
fn named_urls(plan: &str) -> Vec<&str> {
    let mut is_target = false;
    let mut urls = Vec::new();
    for line in plan.lines() {
        if line.starts_with('[') {
            is_target = line.starts_with("[target ");
        } else if let Some(url) = line.strip_prefix("url = ").filter(|_| is_target) {
            urls.push(url);
        }
    }
    urls
}

fn server(url: &str) -> String {
    match url.split_once('?') {
        Some((model, _)) if url.starts_with(SIMULATED) => model.to_owned(),
        _ => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(work: &[(&str, &str)]) -> SeriesKey {
        let owned = work.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        SeriesKey { servers: Vec::new(), work: owned.collect() }
    }

    #[test]
    fn options_of_simulated_servers_alone_are_settings() {
        assert_eq!(server("sim:mm1?service=1ms"), "sim:mm1");
        assert_eq!(server("mysql://db1/shop?tls=off"), "mysql://db1/shop?tls=off");
    }

    #[test]
    fn urls_of_named_targets_are_found_in_the_plan() {
        let plan = "url = sim:mm1\n\n[target b]\nurl = sim:md1\n\n[read]\nquery = url = x\n";
        assert_eq!(named_urls(plan), ["sim:md1"]);
    }

    #[test]
    fn search_question_replaces_load_and_length_of_its_trials() {
        let load = VariedLoad::Rate { job: "read".to_owned() };
        let of = |trial: &[(&str, &str)], slo: &str| {
            let question = format!("[question]\nask = ?\n\n[capacity]\nslo = {slo}\n");
            SeriesKey::of_search(key(trial), &load, &question)
        };
        let query = ("query of [read]", "select 1");
        let first = of(&[("duration", "10s"), ("rate of [read]", "100"), query], "p99 < 20ms");
        let second = of(&[("duration", "12s"), ("rate of [read]", "200"), query], "p99 < 20ms");
        assert_eq!(first, second);
        let third = of(&[query], "p99 < 30ms");
        let expected = ("slo of [capacity]", [Some("p99 < 20ms"), Some("p99 < 30ms")]);
        assert_eq!(first.difference(&third), Some(expected));
    }

    #[test]
    fn saturation_question_replaces_the_load_that_it_finds() {
        let load = VariedLoad::Concurrency { job: "read".to_owned() };
        let of = |clients: &str, duration: &str, until: &str| {
            let run = [("duration", duration), ("concurrency of [read]", clients)];
            let question = format!("[question]\nask = ?\n\n[saturate]\nuntil = {until}\n");
            SeriesKey::of_saturated(key(&run), &load, &question)
        };
        let first = of("4", "10s", "throughput gains < 2%");
        assert_eq!(first, of("8", "10s", "throughput gains < 2%"));
        let other = of("4", "10s", "throughput gains < 5%");
        assert_eq!(first.difference(&other).map(|(name, _)| name), Some("until of [saturate]"));
        let longer = of("4", "20s", "throughput gains < 2%");
        assert_eq!(first.difference(&longer).map(|(name, _)| name), Some("duration"));
    }

    #[test]
    fn first_difference_of_two_series_is_named() {
        let first = key(&[("duration", "10s"), ("slo of [a]", "p99 < 1s")]);
        let second = key(&[("duration", "20s")]);
        assert_eq!(first.difference(&second), Some(("duration", [Some("10s"), Some("20s")])));
        let third = key(&[("duration", "10s")]);
        let expected = ("slo of [a]", [None, Some("p99 < 1s")]);
        assert_eq!(third.difference(&first), Some(expected));
        assert_eq!(first.difference(&first), None);
    }
}
