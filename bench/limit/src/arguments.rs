//! Parsing of command-line options: `--name value`, and flags without a value.

/// An error, as a message for the user.
pub type Failure = Box<dyn std::error::Error>;

/// The options of a program.
#[derive(Clone, Copy, Debug)]
pub struct KnownOptions<'a> {
    /// Options without a value, with their dashes.
    pub flags: &'a [&'a str],
    /// The usage text.
    pub usage: &'a str,
}

/// An option of the command line, with its value.
#[derive(Clone, Copy, Debug)]
pub struct CliOption<'a> {
    /// Name of the option, with its dashes.
    pub name: &'a str,
    /// Its value; empty for a flag.
    pub value: &'a str,
}

impl KnownOptions<'_> {
    /// Passes each option to `take`, in order.
    ///
    /// # Errors
    /// Fails with the usage if a value is missing, or with an error of `take`.
    pub fn read(
        &self,
        arguments: &[String],
        mut take: impl FnMut(CliOption<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut rest = arguments;
        while let [name, after @ ..] = rest {
            let is_flag = self.flags.contains(&name.as_str());
            let (value, after) = match after {
                _ if is_flag => ("", after),
                [value, after @ ..] => (value.as_str(), after),
                [] => return Err(self.usage.into()),
            };
            take(CliOption { name, value })?;
            rest = after;
        }
        Ok(())
    }

    /// Returns the error for an unknown option.
    pub fn unknown(&self, given: CliOption<'_>) -> Failure {
        format!("unknown option {}\n{}", given.name, self.usage).into()
    }
}

impl CliOption<'_> {
    /// Returns the error for a wrong value; `why` says what is expected.
    pub fn wrong_value(&self, why: &str) -> Failure {
        format!("{} {}: {why}", self.name, self.value).into()
    }

    /// Parses a count, which may be 0.
    ///
    /// # Errors
    /// Fails if the value is not a whole number from 0 to [`u32::MAX`].
    pub fn number(&self) -> Result<u32, Failure> {
        self.value.parse().map_err(|_| self.wrong_value("give a whole number"))
    }

    /// Parses a count of at least 1.
    ///
    /// # Errors
    /// Fails if the value is not a number or is 0.
    pub fn positive(&self) -> Result<u32, Failure> {
        match self.number() {
            Ok(number @ 1..) => Ok(number),
            _ => Err(self.wrong_value("give a whole number from 1 on")),
        }
    }
}
