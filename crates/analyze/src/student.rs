//! Student's t distribution, and Fisher's F distribution.

/// Returns the t that is exceeded in either direction with a probability of `alpha`, for a number
/// of degrees of freedom, which need not be whole. Exact to eight digits for 1 degree or more.
///
/// # Panics
/// If `alpha` is not between 0 and 1, or `freedom` is below 1.
pub fn critical_t(alpha: f64, freedom: f64) -> f64 {
    assert!(alpha > 0.0 && alpha < 1.0, "alpha is {alpha}");
    assert!(freedom >= 1.0, "{freedom} degrees of freedom");
    let distribution = Student::new(freedom);
    let (mut low, mut high) = (0.0, 2.0);
    while distribution.two_sided_p(high) > alpha {
        (low, high) = (high, high * 2.0);
    }
    // Each step halves the interval; after 60 it is as narrow as the precision of a double.
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        match distribution.two_sided_p(middle) > alpha {
            true => low = middle,
            false => high = middle,
        }
    }
    (low + high) / 2.0
}

/// Returns the probability with which t is exceeded in either direction.
pub fn two_sided_p(t: f64, freedom: f64) -> f64 {
    Student::new(freedom).two_sided_p(t)
}

/// Student's distribution with a number of degrees of freedom.
struct Student {
    freedom: f64,
    beta: IncompleteBeta,
}

impl Student {
    fn new(freedom: f64) -> Student {
        Student { freedom, beta: IncompleteBeta::new(freedom / 2.0, 0.5) }
    }

    /// Returns the probability with which t is exceeded in either direction (Abramowitz and Stegun,
    /// "Handbook of Mathematical Functions", 26.7.1 and 26.5.27).
    fn two_sided_p(&self, t: f64) -> f64 {
        self.beta.at(self.freedom / (self.freedom + t * t))
    }
}

/// Returns the probability with which F is exceeded, for the degrees of freedom of its numerator
/// and of its denominator (the same handbook, 26.6.2).
pub(crate) fn upper_f(f: f64, numerator: f64, denominator: f64) -> f64 {
    let x = denominator / (denominator + numerator * f);
    IncompleteBeta::new(denominator / 2.0, numerator / 2.0).at(x)
}

/// The regularized incomplete beta function I_x(a, b) for given a and b.
#[derive(Clone, Copy)]
struct IncompleteBeta {
    a: f64,
    b: f64,
    /// Logarithm of the beta function of a and b.
    ln_beta: f64,
}

impl IncompleteBeta {
    fn new(a: f64, b: f64) -> IncompleteBeta {
        IncompleteBeta { a, b, ln_beta: ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b) }
    }

    /// Returns the value of the function at x.
    fn at(self, x: f64) -> f64 {
        if x <= 0.0 || x >= 1.0 {
            return x.clamp(0.0, 1.0);
        }
        let IncompleteBeta { a, b, ln_beta } = self;
        // The continued fraction converges quickly on this side of the mean.
        if x > (a + 1.0) / (a + b + 2.0) {
            return 1.0 - IncompleteBeta { a: b, b: a, ln_beta }.at(1.0 - x);
        }
        let front = (a * x.ln() + b * (1.0 - x).ln() - ln_beta).exp() / a;
        front * beta_fraction(x, a, b)
    }
}

/// Maximum number of terms of a continued fraction, which converges in about √`a` terms.
const MOST_TERMS: u32 = 10_000;

/// Evaluates the continued fraction of the incomplete beta function (the same handbook, 26.5.8)
/// from its front, as a product of ratios of successive convergents (Lentz, "Generating Bessel
/// functions in Mie scattering calculations using continued fractions", 1976).
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    let coefficient = |term: u32| {
        let m = f64::from(term / 2);
        match term % 2 {
            0 => m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            _ => -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        }
    };
    let away_from_zero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let (mut numerators, mut denominators, mut value) = (1.0, 0.0, 1.0);
    for term in 1..=MOST_TERMS {
        let c = coefficient(term);
        denominators = 1.0 / away_from_zero(1.0 + c * denominators);
        numerators = away_from_zero(1.0 + c / numerators);
        let ratio = numerators * denominators;
        value *= ratio;
        if (ratio - 1.0).abs() < 1e-15 {
            break;
        }
    }
    1.0 / value
}

/// Returns the logarithm of the gamma function for a positive argument, by Stirling's series (the
/// same handbook, 6.1.41). Four of its terms have an error below 10⁻¹² for arguments above 10.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut product) = (x, 1.0);
    while x < 10.0 {
        product *= x;
        x += 1.0;
    }
    let square = x * x;
    let series = (1.0 / 12.0
        - (1.0 / 360.0 - (1.0 / 1_260.0 - 1.0 / (1_680.0 * square)) / square) / square)
        / x;
    let half_ln_two_pi = 0.5 * (2.0 * std::f64::consts::PI).ln();
    (x - 0.5) * x.ln() - x + half_ln_two_pi + series - f64::ln(product)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t_quantiles_match_tables() {
        for (alpha, freedom, tabled) in [
            (0.05, 1.0, 12.7062),
            (0.05, 5.0, 2.5706),
            (0.05, 9.0, 2.2622),
            (0.05, 19.0, 2.0930),
            (0.05, 99.0, 1.9842),
            (0.01, 10.0, 3.1693),
            (0.001, 30.0, 3.6460),
            (0.05, 1e6, 1.959_966),
        ] {
            let t = critical_t(alpha, freedom);
            assert!((t - tabled).abs() < 1e-4, "{alpha} {freedom}: {t}");
        }
    }

    /// The critical values for planned looks at 8, 12 and 20 pairs agree with the documented ones.
    #[test]
    fn planned_looks_have_their_critical_values() {
        for (pairs, t) in [(8.0, 3.128), (12.0, 2.820), (20.0, 2.625)] {
            assert!((critical_t(0.05 / 3.0, pairs - 1.0) - t).abs() < 5e-4, "{pairs}");
        }
    }

    #[test]
    fn f_quantiles_match_tables() {
        for (f, numerator, denominator, tabled) in
            [(4.964_6, 1.0, 10.0, 0.05), (2.852_4, 5.0, 16.0, 0.05), (4.437_4, 5.0, 16.0, 0.01)]
        {
            let p = upper_f(f, numerator, denominator);
            assert!((p - tabled).abs() < 1e-4, "{f} {numerator} {denominator}: {p}");
        }
        assert!((upper_f(4.0, 1.0, 7.0) - two_sided_p(2.0, 7.0)).abs() < 1e-12);
    }

    /// With one degree of freedom, Student's distribution is Cauchy's; with two, it has a closed
    /// form.
    #[test]
    fn probability_agrees_with_the_closed_forms() {
        for t in [0.0, 0.1, 1.0, 3.0, 50.0] {
            let cauchy = 1.0 - 2.0 * f64::atan(t) / std::f64::consts::PI;
            assert!((two_sided_p(t, 1.0) - cauchy).abs() < 1e-12, "{t}");
            let two = 1.0 - t / (2.0 + t * t).sqrt();
            assert!((two_sided_p(t, 2.0) - two).abs() < 1e-12, "{t}");
        }
        assert!((critical_t(two_sided_p(2.5, 7.3), 7.3) - 2.5).abs() < 1e-9);
    }
}
