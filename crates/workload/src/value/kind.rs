//! Types of values, and the operators that combine them.

/// An arithmetic operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`: for two integers the whole part of the quotient.
    Divide,
    /// `%`: the remainder of a division, with the sign of the dividend.
    Modulo,
}

impl Operator {
    /// Returns the operator's character.
    pub(crate) fn sign(self) -> char {
        match self {
            Operator::Add => '+',
            Operator::Subtract => '-',
            Operator::Multiply => '*',
            Operator::Divide => '/',
            Operator::Modulo => '%',
        }
    }

    /// Returns the precedence; a higher one binds more tightly.
    pub(crate) fn precedence(self) -> u8 {
        match self {
            Operator::Add | Operator::Subtract => 1,
            Operator::Multiply | Operator::Divide | Operator::Modulo => 2,
        }
    }
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// Whole numbers of 64 bits.
    Int,
    /// Doubles.
    Real,
    /// Durations.
    Duration,
    /// Texts.
    Text,
    /// Instants of calendar time.
    Timestamp,
}

impl Type {
    /// Returns the type with its article, for a message.
    pub(crate) fn article(self) -> &'static str {
        match self {
            Type::Int => "an integer",
            Type::Real => "a number with a point",
            Type::Duration => "a duration",
            Type::Text => "a text",
            Type::Timestamp => "a timestamp",
        }
    }

    /// Returns true if the type is a number.
    pub(crate) fn is_number(self) -> bool {
        matches!(self, Type::Int | Type::Real)
    }

    /// Returns the type of an operation's result; `None` if the operator is not defined for the two
    /// types.
    pub(crate) fn combined(operator: Operator, left: Type, right: Type) -> Option<Type> {
        Some(match (left, right) {
            (Type::Int, Type::Int) => Type::Int,
            (left, right) if left.is_number() && right.is_number() => Type::Real,
            (Type::Duration, Type::Duration) => match operator {
                Operator::Add | Operator::Subtract | Operator::Modulo => Type::Duration,
                Operator::Divide => Type::Real,
                Operator::Multiply => return None,
            },
            (Type::Duration, right) if right.is_number() => match operator {
                Operator::Multiply | Operator::Divide => Type::Duration,
                Operator::Add | Operator::Subtract | Operator::Modulo => return None,
            },
            (left, Type::Duration) if left.is_number() && operator == Operator::Multiply => {
                Type::Duration
            }
            _ => return None,
        })
    }
}
