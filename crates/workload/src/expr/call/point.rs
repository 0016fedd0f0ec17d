//! Arguments of `point()`.

use super::arguments::{AllowedIn, Arguments, Spec, Variadic};
use crate::expr::compiled::InvalidExpr;
use crate::expr::node::Family;
use crate::value::Type;

pub(super) static SPEC: Spec = Spec {
    name: "point",
    parameters: &[],
    rest: Variadic::Nothing,
    allowed_in: AllowedIn::Anywhere,
    build,
    doc: "a place that is uniform on the sphere, as WKT with longitude before latitude, in degrees \
          with 7 decimals (about a centimetre)",
    example: "point()",
};

fn build(_: &Arguments<'_>) -> Result<(Family, Type), InvalidExpr> {
    Ok((Family::Point, Type::Text))
}

#[cfg(test)]
mod tests {
    use crate::expr::call::golden::{check, error, values};
    use crate::generate::sphere::tests::parse;
    use crate::generate::statistics::kolmogorov_smirnov;

    #[test]
    fn golden_values_never_change() {
        check(
            "point()",
            "POINT(164.2863881 3.2377355) POINT(-94.1597443 23.7065639) POINT(166.9057790 \
             -51.4151650) POINT(-152.9077170 34.5133383) POINT(71.0640268 3.1395541) \
             POINT(-122.1876486 -46.9796941) POINT(20.9210902 3.2890272) POINT(-82.8760268 \
             -52.2198410)",
        );
    }

    #[test]
    fn points_are_uniform_on_the_sphere() {
        let points: Vec<_> = values("point()", 50_000).iter().map(|wkt| parse(wkt)[0]).collect();
        // Along any axis the heights are uniform (Archimedes): the points have no clusters.
        for axis in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.6, 0.0, 0.8]] {
            let height = |point: &[f64; 3]| point.iter().zip(axis).map(|(a, b)| a * b).sum();
            let heights: Vec<f64> = points.iter().map(height).collect();
            kolmogorov_smirnov(&heights, |height| (height + 1.0) / 2.0);
        }
        let longitudes: Vec<f64> = points.iter().map(|[x, y, _]| y.atan2(*x)).collect();
        let turn = std::f64::consts::TAU;
        kolmogorov_smirnov(&longitudes, |longitude| longitude / turn + 0.5);
    }

    #[test]
    fn bad_arguments_are_refused() {
        error("point(1)", "`point` takes no arguments");
    }
}
