//! Evaluation of expression trees.

use base::{Values, WallTime};

use super::node::{Family, Generate, Node};
use crate::feed::records::Record;
use crate::generate::{
    client, digits, exponential, field, hex, normal, numbered, pick, point, text, timestamp,
};
use crate::value::Datum;

/// The input of an evaluation, besides the expression.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EvalContext<'m> {
    /// Number of the request or row.
    pub(crate) number: u64,
    /// Start of the run in calendar time.
    pub(crate) started: WallTime,
    /// Values of the variables evaluated so far.
    pub(crate) variables: &'m [Datum],
    /// Texts of the variables; `None` if the output already contains them.
    pub(crate) texts: Option<&'m Values>,
    /// Record of a file that the request takes.
    pub(crate) record: Option<Record<'m>>,
}

impl Node {
    /// Evaluates the expression for one request; texts are written into `out`.
    pub(crate) fn eval(&self, moment: EvalContext<'_>, out: &mut Values) -> Datum {
        match self {
            Node::Int(number) => Datum::Int(*number),
            Node::Real(number) => Datum::Real(*number),
            Node::Duration(nanos) => Datum::Duration(*nanos),
            Node::Text(text) => Datum::Text(out.text(|out| out.push_str(text))),
            Node::Variable(place) => moment.variable(*place, out),
            Node::Negate(inner) => inner.eval(moment, out).negated(),
            Node::Combine(combination) => {
                let left = combination.left.eval(moment, out);
                let right = combination.right.eval(moment, out);
                Datum::combine(combination.operator, left, right)
            }
            Node::Generate(generate) => generate.eval(moment, out),
        }
    }
}

impl Generate {
    fn eval(&self, moment: EvalContext<'_>, out: &mut Values) -> Datum {
        let mut draw = self.stream.draw(moment.number);
        match &self.family {
            Family::Uniform(uniform) => uniform.draw(&mut draw, |end| end.eval(moment, out)),
            Family::Zipf(zipf) => Datum::Int(zipf.draw(&mut draw)),
            Family::Pareto(pareto) => {
                let minimum = pareto.minimum.eval(moment, out);
                pareto.value(minimum, draw.exponential())
            }
            Family::Hotspot(hotspot) => Datum::Int(hotspot.draw(&mut draw)),
            Family::Latest(latest) => Datum::Int(latest.draw(moment.number, &mut draw)),
            Family::Nurand(nurand) => Datum::Int(nurand.draw(&mut draw)),
            Family::Client(clients) => Datum::Int(client::number(*clients, moment.number)),
            Family::Exponential(mean) => {
                exponential::value(mean.eval(moment, out), draw.exponential())
            }
            Family::Normal(mean, deviation) => {
                let mean = mean.eval(moment, out);
                normal::value(mean, deviation.eval(moment, out), draw.normal())
            }
            Family::Row => Datum::Int(numbered::row(moment.number)),
            Family::Sequence(start) => Datum::Int(numbered::sequence(*start, moment.number)),
            Family::Permute(permute) => Datum::Int(permute.at(moment.number)),
            Family::Text(lo, hi) => {
                let lo = lo.eval(moment, out);
                let hi = hi.as_ref().map_or(lo, |hi| hi.eval(moment, out));
                text::value((lo, hi), &mut draw, out)
            }
            Family::Digits(pattern) => digits::value(pattern, &mut draw, out),
            Family::Hex(length) => hex::value(length.eval(moment, out), &mut draw, out),
            Family::Uuid => hex::uuid(&mut draw, out),
            Family::Pick(values) => pick::choice(values, &mut draw).eval(moment, out),
            Family::Field(place) => field::value(*place, moment.record, out),
            Family::Weighted(weighted) => weighted.choice(&mut draw).eval(moment, out),
            Family::Json(json) => json.value(|value, out| value.eval(moment, out), out),
            Family::Point => point::value(&mut draw, out),
            Family::Polygon(polygon) => polygon.value(&mut draw, out),
            Family::Csv(csv) => csv.value(moment.number, out),
            Family::Null(null) if draw.unit() < null.probability => Datum::Null,
            Family::Null(null) => null.value.eval(moment, out),
            Family::Timestamp(offset) => timestamp::value(moment.started, offset.eval(moment, out)),
        }
    }
}

impl EvalContext<'_> {
    fn variable(self, place: usize, out: &mut Values) -> Datum {
        match (self.variables[place], self.texts) {
            (Datum::Text(text), Some(texts)) => {
                Datum::Text(out.text(|out| out.push_str(texts.resolve(text))))
            }
            (datum, _) => datum,
        }
    }
}
