//! Clock source of the kernel and timer slack of this process.

use record::environment::host;

use super::fact::Fact;
use super::root::Root;

pub(super) fn facts(root: &Root) -> [Fact; 3] {
    let source = |name: &str| {
        let path = format!("sys/devices/system/clocksource/clocksource0/{name}_clocksource");
        root.line(&path)
    };
    [
        (host::CLOCK_SOURCE, source("current")),
        (host::CLOCK_AVAILABLE, source("available")),
        (host::CLOCK_TIMER_SLACK, slack(root)),
    ]
}

/// Returns the timer slack in nanoseconds: the time by which the kernel may delay most timed waits
/// of this process. Assay's own timer has no slack.
fn slack(root: &Root) -> Option<String> {
    root.number("proc/self/timerslack_ns").map(|slack| slack.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::tests::{TestRoot, value};

    #[test]
    fn clock_source_is_reported_with_the_available_ones() {
        let folder = "sys/devices/system/clocksource/clocksource0";
        let planted = TestRoot::new()
            .with(&format!("{folder}/current_clocksource"), "hpet\n")
            .with(&format!("{folder}/available_clocksource"), "tsc hpet acpi_pm \n")
            .with("proc/self/timerslack_ns", "50000\n");
        let facts = facts(&planted.root);
        assert_eq!(value(&facts, "host.clock.source").as_deref(), Some("hpet"));
        assert_eq!(value(&facts, "host.clock.available").as_deref(), Some("tsc hpet acpi_pm"));
        assert_eq!(value(&facts, "host.clock.timer_slack_ns").as_deref(), Some("50000"));
    }

    #[test]
    fn invalid_timer_slack_is_unknown() {
        assert_eq!(slack(&TestRoot::new().with("proc/self/timerslack_ns", "-1\n").root), None);
    }
}
