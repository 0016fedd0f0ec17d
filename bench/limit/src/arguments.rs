//! Options of a command line: `--name value`, and flags without a value.

/// Why a command line makes no sense, for people.
pub type Failure = Box<dyn std::error::Error>;

/// Options as a program knows them.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// Those without a value.
    pub flags: &'a [&'a str],
    /// Says how the program is used.
    pub usage: &'a str,
}

/// An option with its value, which is empty for a flag.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// The option, with its dashes.
    pub name: &'a str,
    /// Its value.
    pub value: &'a str,
}

impl Known<'_> {
    /// Hands over all options, one after the other.
    ///
    /// # Errors
    /// The usage, if a value is missing; what `take` says.
    pub fn read(
        &self,
        arguments: &[String],
        mut take: impl FnMut(Given<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut rest = arguments;
        while let [name, behind @ ..] = rest {
            let is_flag = self.flags.contains(&name.as_str());
            let (value, behind) = match behind {
                _ if is_flag => ("", behind),
                [value, behind @ ..] => (value.as_str(), behind),
                [] => return Err(self.usage.into()),
            };
            take(Given { name, value })?;
            rest = behind;
        }
        Ok(())
    }

    /// Complains about an option that there is not.
    pub fn unknown(&self, given: Given<'_>) -> Failure {
        format!("unknown option {}\n{}", given.name, self.usage).into()
    }
}

impl Given<'_> {
    /// Complains: `why` says what would be right.
    pub fn is_wrong(&self, why: &str) -> Failure {
        format!("{} {}: {why}", self.name, self.value).into()
    }

    /// How many of something there are, perhaps none.
    ///
    /// # Errors
    /// The value is no number.
    pub fn number(&self) -> Result<u32, Failure> {
        self.value.parse().map_err(|_| self.is_wrong("give a whole number"))
    }

    /// The same of something of which there must be some.
    ///
    /// # Errors
    /// The value is no number, or 0.
    pub fn positive(&self) -> Result<u32, Failure> {
        match self.number() {
            Ok(number @ 1..) => Ok(number),
            _ => Err(self.is_wrong("give a whole number from 1 on")),
        }
    }
}
