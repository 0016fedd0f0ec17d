//! Arguments of `polygon(hits=80)`.

use super::arguments::{AllowedIn, Arguments, Parameter, Spec, Variadic};
use crate::expr::compiled::InvalidExpr;
use crate::expr::node::Family;
use crate::generate::{Points, Polygon, radius};
use crate::value::Type;
use crate::wording::quoted;

pub(super) static SPEC: Spec = Spec {
    name: "polygon",
    parameters: &[
        Parameter::optional("hits", "80", "a constant number above zero"),
        Parameter::optional("points", "rows", "a constant integer"),
    ],
    rest: Variadic::Nothing,
    allowed_in: AllowedIn::Anywhere,
    build,
    doc: "a regular octagon at a random place and angle on the sphere, whose area holds on average \
          `hits` of `points` `point()`s, as WKT with its corners counterclockwise. Edges are great \
          circles. An octagon that would hold a pole or cross the 180th meridian is drawn again; \
          after 64 draws it lies around 0 0. The default of `points` is the rows of the file's \
          only table with a column that uses `point()`",
    example: "polygon(hits=80, points=100000)",
};

/// The smallest radius in radians: about a metre, a hundred times the precision of corners.
const SMALLEST: f64 = 1.6e-7;

fn build(arguments: &Arguments<'_>) -> Result<(Family, Type), InvalidExpr> {
    let hits = arguments.constant_real(0, 80.0)?;
    let points = points(arguments)?;
    let place = arguments.get(0).map_or(arguments.call(), |given| given.place);
    if hits <= 0.0 {
        let shown = quoted(place.text());
        return Err(place
            .error(format!("expected more than 0 hits, found {shown}"))
            .help(arguments.usage())
            .into());
    }
    let fraction = hits / points as f64;
    if fraction >= 0.5 {
        let message = format!("{hits} hits are not less than half of {points} points");
        let help = "a polygon is smaller than half of the sphere: ask for fewer hits";
        return Err(place.error(message).help(help).into());
    }
    let radius = radius(fraction);
    if radius < SMALLEST {
        let message = format!("an area for {hits} of {points} points would be less than a metre");
        return Err(place.error(message).help("ask for more hits").into());
    }
    Ok((Family::Polygon(Polygon::new(hits, points, radius)), Type::Text))
}

/// Returns the number of geographic points that determines the size of the polygon.
fn points(arguments: &Arguments<'_>) -> Result<u64, InvalidExpr> {
    let why = match (arguments.get(1), arguments.scope.points) {
        (Some(given), _) => {
            let points = arguments.constant_int(1, 0)?;
            return u64::try_from(points).ok().filter(|points| *points > 0).ok_or_else(|| {
                let shown = quoted(given.place.text());
                given.place.error(format!("an area for {shown} points has no size")).into()
            });
        }
        (None, Points::Rows(rows)) if rows > 0 => return Ok(rows),
        (None, Points::Rows(_)) => "the table with a column of `point()` has no rows",
        (None, Points::NoTable) => "no [load TABLE] of the file has a column of `point()`",
        (None, Points::Several) => "more than one [load TABLE] has a column of `point()`",
    };
    let error = arguments.call().error(format!("{why}, so the area of the polygon is unknown"));
    Err(error.help("say how many there are: `polygon(hits=80, points=100000)`").into())
}

#[cfg(test)]
mod tests {
    use crate::expr::call::golden::{check, error};

    #[test]
    fn golden_values_never_change() {
        check(
            "polygon(hits=80, points=100000)",
            "POLYGON((167.2529058 4.9447079, 165.1711937 6.5379694, 162.5650491 6.1917494, \
             160.9772448 4.1114041, 161.3298763 1.5221334, 163.4073366 -0.0632638, \
             165.9977032 0.2808227, 167.5897950 2.3533115, 167.2529058 4.9447079)) \
             POLYGON((-90.7172927 25.0627546, -92.7937609 26.8915342, -95.7216070 26.8169030, \
             -97.6775413 24.8854292, -97.5294755 22.2758430, -95.4604578 20.5101780, \
             -92.6708413 20.5812837, -90.7069780 22.4496604, -90.7172927 25.0627546)) \
             POLYGON((172.1682147 -50.5758727, 169.7010698 -48.5101511, 165.8291441 \
             -48.0707387, 162.4866839 -49.4771729, 161.4757576 -52.0108474, 163.7362113 \
             -54.2447469, 168.1522642 -54.7481713, 171.6968866 -53.1727475, 172.1682147 \
             -50.5758727)) POLYGON((-148.8451481 35.2655834, -150.6854665 37.4177142, \
             -153.9444130 37.8252309, -156.5329702 36.2257177, -156.8913355 33.6291702, \
             -154.9792403 31.5714472, -151.9504563 31.1933590, -149.4327060 32.6982755, \
             -148.8451481 35.2655834)) POLYGON((73.6523675 5.3771464, 71.3030777 6.5471633, \
             68.8120493 5.7140831, 67.6504754 3.3714881, 68.4867689 0.8955960, 70.8265323 \
             -0.2681092, 73.3049159 0.5602093, 74.4760273 2.8965069, 73.6523675 5.3771464)) \
             POLYGON((-117.8250402 -45.3829918, -120.6706777 -43.7341545, -124.2853563 \
             -43.8967975, -126.8293460 -45.7878383, -126.8034450 -48.4008901, -123.9001526 \
             -50.2026143, -119.8349414 -50.0196130, -117.3522299 -47.9759058, -117.8250402 \
             -45.3829918)) POLYGON((23.7342301 5.2382031, 21.5244508 6.6516625, 18.9568834 \
             6.0884865, 17.5505287 3.8826527, 18.1189503 1.3319725, 20.3217907 -0.0739695, \
             22.8742834 0.4857330, 24.2876043 2.6840614, 23.7342301 5.2382031)) \
             POLYGON((-77.5070663 -51.4088020, -79.9919235 -49.3307974, -83.9206344 \
             -48.8689391, -87.3385290 -50.2529267, -88.4129945 -52.7791296, -86.1556793 \
             -55.0288949, -81.6610182 -55.5600159, -78.0203693 -54.0033586, -77.5070663 \
             -51.4088020))",
        );
    }

    #[test]
    fn bad_arguments_are_refused() {
        error("polygon(0, points=100)", "expected more than 0 hits, found `0`");
        error("polygon(-5, points=100)", "expected more than 0 hits, found `-5`");
        error("polygon(50, points=100)", "50 hits are not less than half of 100 points");
        error("polygon(1, points=0)", "an area for `0` points has no size");
        error(
            "polygon(1, points=1000000000000000)",
            "an area for 1 of 1000000000000000 points would be less than a metre",
        );
        error(
            "polygon(1, points=0.5)",
            "`polygon` needs an integer, but `0.5` is a number with a point",
        );
        error(
            "polygon()",
            "no [load TABLE] of the file has a column of `point()`, so the area of the polygon is \
             unknown",
        );
    }
}
