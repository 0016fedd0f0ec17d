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
    /// Number of the random draw: `number`, except in the pauses of a session.
    pub(crate) draw: u64,
    /// Start of the run in calendar time.
    pub(crate) started: WallTime,
    /// Values of the variables evaluated so far.
    pub(crate) variables: &'m [Datum],
    /// Texts of the variables; `None` if the output already contains them.
    pub(crate) texts: Option<&'m Values>,
    /// The record that the request takes from a file; `None` without a file.
    pub(crate) record: Option<Record<'m>>,
}

impl Node {
    /// Evaluates the expression for one request; texts are written into `out`.
    pub(crate) fn eval(&self, context: EvalContext<'_>, out: &mut Values) -> Datum {
        match self {
            Node::Int(number) => Datum::Int(*number),
            Node::Real(number) => Datum::Real(*number),
            Node::Duration(nanos) => Datum::Duration(*nanos),
            Node::Text(text) => Datum::Text(out.text(|out| out.push_str(text))),
            Node::Variable(place) => context.variable(*place, out),
            Node::Negate(inner) => inner.eval(context, out).negated(),
            Node::Combine(combination) => {
                let left = combination.left.eval(context, out);
                let right = combination.right.eval(context, out);
                Datum::combine(combination.operator, left, right)
            }
            Node::Generate(generate) => generate.eval(context, out),
        }
    }
}

impl Generate {
    fn eval(&self, context: EvalContext<'_>, out: &mut Values) -> Datum {
        let mut draw = self.stream.draw(context.draw);
        match &self.family {
            Family::Uniform(uniform) => uniform.draw(&mut draw, |end| end.eval(context, out)),
            Family::Zipf(zipf) => Datum::Int(zipf.draw(&mut draw)),
            Family::Pareto(pareto) => {
                let minimum = pareto.minimum.eval(context, out);
                pareto.value(minimum, draw.exponential())
            }
            Family::Hotspot(hotspot) => Datum::Int(hotspot.draw(&mut draw)),
            Family::Latest(latest) => Datum::Int(latest.draw(context.number, &mut draw)),
            Family::Nurand(nurand) => Datum::Int(nurand.draw(&mut draw)),
            Family::Client(clients) => Datum::Int(client::number(*clients, context.number)),
            Family::Exponential(mean) => {
                exponential::value(mean.eval(context, out), draw.exponential())
            }
            Family::Normal(mean, deviation) => {
                let mean = mean.eval(context, out);
                normal::value(mean, deviation.eval(context, out), draw.normal())
            }
            Family::Row => Datum::Int(numbered::row(context.number)),
            Family::Sequence(start) => Datum::Int(numbered::sequence(*start, context.number)),
            Family::Permute(permute) => Datum::Int(permute.at(context.number)),
            Family::Text(lo, hi) => {
                let lo = lo.eval(context, out);
                let hi = hi.as_ref().map_or(lo, |hi| hi.eval(context, out));
                text::value((lo, hi), &mut draw, out)
            }
            Family::Digits(pattern) => digits::value(pattern, &mut draw, out),
            Family::Hex(length) => hex::value(length.eval(context, out), &mut draw, out),
            Family::Uuid => hex::uuid(&mut draw, out),
            Family::Pick(values) => pick::choice(values, &mut draw).eval(context, out),
            Family::Field(place) => field::value(*place, context.record, out),
            Family::Weighted(weighted) => weighted.choice(&mut draw).eval(context, out),
            Family::Json(json) => json.value(|value, out| value.eval(context, out), out),
            Family::Point => point::value(&mut draw, out),
            Family::Polygon(polygon) => polygon.value(&mut draw, out),
            Family::Csv(csv) => csv.value(context.number, out),
            Family::Null(null) if draw.unit() < null.probability => Datum::Null,
            Family::Null(null) => null.value.eval(context, out),
            Family::Timestamp(offset) => {
                timestamp::value(context.started, offset.eval(context, out))
            }
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
