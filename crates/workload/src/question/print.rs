//! Printing of experiments as experiment files.

use std::fmt::{Display, Write as _};

use super::delta::Deltas;
use super::experiment::{Design, Experiment, Restore};
use super::statement_key::StatementKey;

impl Experiment {
    /// Returns the experiment as the text of an experiment file, with defaults written out. The
    /// passwords of URLs, and a workload inside the experiment file, are left out. With them,
    /// checking the text gives an equal experiment.
    pub fn to_text(&self) -> String {
        let mut out = String::from("[question]\n");
        key(&mut out, "ask", &self.ask);
        if let Some(workload) = &self.workload {
            key(&mut out, "workload", workload);
        }
        self.bets.iter().for_each(|bet| key(&mut out, "bet", bet));
        if self.sweep.is_none() && self.capacity.is_none() {
            key(&mut out, "rounds", self.rounds);
        }
        let restore = StatementKey::Restore.name();
        match &self.restore {
            Restore::None => key(&mut out, restore, "none"),
            Restore::Reload => key(&mut out, restore, "reload"),
            Restore::Statements(all) => all.iter().for_each(|one| key(&mut out, restore, one)),
        }
        if let Some(search) = &self.capacity {
            out.push_str("\n[capacity]\n");
            search.print(|name, value| key(&mut out, name, value));
            return out;
        }
        let differences = if self.has_several_differences { "several" } else { "one" };
        key(&mut out, "differences", differences);
        key(&mut out, "design", if self.design == Design::Aa { "aa" } else { "arms" });
        if self.deltas != Deltas::default() {
            key(&mut out, "delta", &self.deltas);
        }
        for arm in self.file_arms() {
            let _ = writeln!(out, "\n[arm {}]", arm.name);
            for one in &arm.differences {
                key(&mut out, &one.key(), one.value());
            }
        }
        if let Some(search) = &self.saturate {
            out.push_str("\n[saturate]\n");
            search.print(|name, value| key(&mut out, name, value));
        }
        if let Some(sweep) = &self.sweep {
            let _ = writeln!(out, "\n[sweep]");
            key(&mut out, "vary", format!("{}: {}", sweep.vary, sweep.values.join(", ")));
            key(&mut out, "repeats", sweep.repeats);
            if let Some(best) = &sweep.best {
                key(&mut out, "best", best);
            }
        }
        out
    }
}

fn key(out: &mut String, name: &str, value: impl Display) {
    let _ = writeln!(out, "{name} = {value}");
}
