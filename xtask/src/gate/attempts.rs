//! Repeated measurements of numbers that chance or other programs can only increase.

/// Measures until a value is within the limit, at most `attempts` times, and returns the least.
pub(super) fn least(
    attempts: u32,
    limit: u64,
    mut measure: impl FnMut() -> Result<u64, String>,
) -> Result<u64, String> {
    let mut least = measure()?;
    for _ in 1..attempts {
        if least <= limit {
            break;
        }
        least = least.min(measure()?);
    }
    Ok(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_is_measured_again_only_while_it_is_above_the_limit() {
        let measure = |attempts, values: &[u64]| {
            let mut values = values.iter().copied();
            let next = || values.next().ok_or_else(|| "no value".to_owned());
            (least(attempts, 10, next), values.count())
        };
        assert_eq!(measure(10, &[9, 8]), (Ok(9), 1));
        assert_eq!(measure(10, &[12, 10, 9]), (Ok(10), 1));
        assert_eq!(measure(3, &[12, 11, 13, 9]), (Ok(11), 1));
        assert_eq!(measure(10, &[15, 14, 11, 13, 12, 17, 11, 12, 13, 18, 9]), (Ok(11), 1));
        assert_eq!(measure(10, &[12]), (Err("no value".to_owned()), 0));
    }
}
