//! Differences between plans that change the work.

use super::conditions::plan_lines;

/// Returns the first line that determines the work and differs between the printed plans of two
/// experiments, such as `think of [read] = 1ms`; `None` for a line that one of them does not have.
///
/// The text of an experiment has its plans one after the other, with an empty line between them. If
/// one experiment has more plans than the other, and the common plans do not differ, the result is
/// the number of plans of each experiment, as in `plans = 2`.
pub fn differing_work(first: &str, second: &str) -> Option<[Option<String>; 2]> {
    let both = [first, second].map(split_plans);
    let mut pairs = both[0].iter().zip(&both[1]);
    let line = pairs.find_map(|(first, second)| {
        let [first, second] = [first, second].map(|plan| plan_lines(plan));
        let (name, values) = first_difference(&first, &second)?;
        Some(values.map(|value| value.map(|value| format!("{name} = {value}"))))
    });
    let numbers = both.map(|plans| plans.len());
    line.or_else(|| {
        let has_other_count = numbers[0] != numbers[1];
        has_other_count.then(|| numbers.map(|number| Some(format!("plans = {number}"))))
    })
}

/// Returns the first name whose values differ in two lists, with both values.
pub(super) fn first_difference<'k>(
    first: &'k [(String, String)],
    second: &'k [(String, String)],
) -> Option<(&'k str, [Option<&'k str>; 2])> {
    let value = |of: &'k [(String, String)], name: &str| {
        of.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    };
    let names = first.iter().chain(second).map(|(name, _)| name.as_str());
    let mut both = names.map(|name| (name, [value(first, name), value(second, name)]));
    both.find(|(_, [first, second])| first != second)
}

/// Splits the text of several plans. A plan begins with a line outside of any section, after an
/// empty line. An empty line within a plan comes before a section or within a long value.
fn split_plans(text: &str) -> Vec<&str> {
    let is_begin = |at: &usize| !text[*at..].starts_with(['[', ' ', '\n']);
    let begins = text.match_indices("\n\n").map(|(at, empty)| at + empty.len()).filter(is_begin);
    let mut all = Vec::new();
    let mut start = 0;
    for begin in begins.chain([text.len()]) {
        all.push(&text[start..begin]);
        start = begin;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "url = sim:mm1\nseed = 1\nduration = 9s\n\n[params]\nthink = 1ms\n\n\
                        [read]\nquery = select 1\nconcurrency = 4\n";

    fn check(first: &str, second: &str, expected: Option<[Option<&str>; 2]>) {
        let expected = expected.map(|lines| lines.map(|line| line.map(str::to_owned)));
        assert_eq!(differing_work(first, second), expected, "{second}");
    }

    #[test]
    fn target_seed_and_parameters_are_not_compared() {
        let other =
            PLAN.replace("url = sim:mm1", "url = sqlite:a.db").replace("seed = 1", "seed = 2");
        check(PLAN, &other.replace("think = 1ms", "think = 5ms"), None);
        check(PLAN, &PLAN.replace("[params]\nthink = 1ms\n\n", ""), None);
        let query = ["query of [read] = select 1", "query of [read] = select 2"];
        check(PLAN, &PLAN.replace("select 1", "select 2"), Some(query.map(Some)));
    }

    #[test]
    fn inserted_line_is_the_only_difference() {
        let longer = PLAN.replace("query =", "think = 5ms\nquery =");
        check(PLAN, &longer, Some([None, Some("think of [read] = 5ms")]));
        check(&longer, PLAN, Some([Some("think of [read] = 5ms"), None]));
        // Further lines before the line that differs do not hide the difference.
        let other = longer.replace("concurrency = 4", "concurrency = 8");
        let clients = ["concurrency of [read] = 4", "concurrency of [read] = 8"];
        check(&longer, &other, Some(clients.map(Some)));
    }

    #[test]
    fn plan_of_each_arm_is_compared_with_that_of_the_same_arm() {
        let arms = |clients: [&str; 2]| {
            let plan = |number: &str| PLAN.replace("concurrency = 4", &format!("think = {number}"));
            clients.map(plan).join("\n")
        };
        let elsewhere = arms(["1ms", "2ms"]).replace("sim:mm1", "sim:md1");
        check(&arms(["1ms", "2ms"]), &elsewhere, None);
        let think = ["think of [read] = 2ms", "think of [read] = 3ms"];
        check(&arms(["1ms", "2ms"]), &arms(["1ms", "3ms"]), Some(think.map(Some)));
        let numbers = ["plans = 1", "plans = 2"].map(Some);
        check(PLAN, &arms(["1ms", "2ms"]), Some([Some("concurrency of [read] = 4"), None]));
        check(PLAN, &[PLAN, PLAN].join("\n"), Some(numbers));
        check(&[PLAN, PLAN].join("\n"), PLAN, Some([numbers[1], numbers[0]]));
        let without = [PLAN, arms(["1ms", "1ms"]).as_str()].join("\n");
        let with = [arms(["1ms", "1ms"]).as_str(), PLAN].join("\n");
        check(&without, &with, Some([Some("concurrency of [read] = 4"), None]));
    }
}
