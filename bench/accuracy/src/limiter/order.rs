//! The command line of the program `limiter`.

/// The default seed, with which the table in `docs/limiter.md` was made.
const SEED: u64 = 2_031;

/// The seeds with which the thresholds of `analyze` were tuned; `--write` refuses them.
const TUNED: [u64; 5] = [7, 11, 2_026, 2_027, 2_028];

const REPETITIONS: u64 = 3;

/// Length of a run, in seconds.
const SECONDS: u64 = 10;

const USAGE: &str =
    "usage: limiter [--seed N] [--repetitions N] [--only WORDS] [--seconds S] [--write]";

/// The parsed command line.
pub struct Order {
    /// The seed from which all random numbers of the scenarios are drawn.
    pub seed: u64,
    /// Number of runs of each scenario.
    pub repetitions: u64,
    /// Length of a run, in seconds.
    pub seconds: u64,
    /// A text that the names of the executed scenarios contain; `None` for all scenarios.
    pub only: Option<String>,
    /// True if the tables are written into `docs/limiter.md`.
    pub is_written: bool,
}

impl Order {
    /// Parses the words of a command line, without the name of the program.
    ///
    /// # Errors
    /// Returns the usage, or the reason why a value or a combination of options is not accepted.
    pub fn parse(mut words: impl Iterator<Item = String>) -> Result<Order, String> {
        let mut order = Order {
            seed: SEED,
            repetitions: REPETITIONS,
            seconds: SECONDS,
            only: None,
            is_written: false,
        };
        while let Some(word) = words.next() {
            match word.as_str() {
                "--seed" => order.seed = number(&mut words)?,
                "--repetitions" => order.repetitions = number(&mut words)?,
                "--seconds" => order.seconds = number(&mut words)?,
                "--only" => order.only = Some(words.next().ok_or(USAGE)?),
                "--write" => order.is_written = true,
                other => return Err(format!("there is no option {other}: {USAGE}")),
            }
        }
        order.check()
    }

    fn check(self) -> Result<Order, String> {
        // The page describes a full suite only.
        let is_part = self.only.is_some() || self.repetitions < REPETITIONS;
        if self.is_written && (is_part || self.seconds < SECONDS) {
            return Err(format!(
                "--write takes all scenarios, {REPETITIONS} times, for {SECONDS} s, without --only"
            ));
        }
        if self.is_written && TUNED.contains(&self.seed) {
            return Err(format!("thresholds were tuned with the seed {}", self.seed));
        }
        Ok(self)
    }
}

/// Returns the number that follows an option.
fn number(words: &mut impl Iterator<Item = String>) -> Result<u64, String> {
    let value = words.next().ok_or(USAGE)?;
    value.parse().map_err(|error| format!("{value}: {error}: {USAGE}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Result<Order, String> {
        Order::parse(text.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn limiter_options_are_parsed() {
        let order = check("--seed 7 --repetitions 2 --seconds 5 --only hot").expect("an order");
        assert_eq!((order.seed, order.repetitions, order.seconds), (7, 2, 5));
        assert_eq!(order.only.as_deref(), Some("hot"));
        let whole = check("--write").expect("an order");
        assert!(whole.is_written);
        assert_eq!((whole.seed, whole.repetitions), (SEED, REPETITIONS));
    }

    #[test]
    fn invalid_limiter_options_are_refused() {
        for text in [
            "--seed",
            "--seed x",
            "--loud",
            "--write --only hot",
            "--write --repetitions 2",
            "--write --seconds 5",
            "--write --seed 2026",
        ] {
            assert!(check(text).is_err(), "{text}");
        }
    }
}
