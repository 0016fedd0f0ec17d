//! Generators of the values of requests and of table rows.
//!
//! After the first requests have grown the buffers, generating values allocates nothing.

use std::sync::Arc;

use base::{Dialect, Nanos, Value, Values, WallTime};

use crate::expr::{EvalContext, Expr, Node};
use crate::feed::{Group, Record};
use crate::plan::{Job, Load, Part, Piece, Requests, Statement};
use crate::text::quote_for_shell;
use crate::value::Datum;

/// Number of low bits in the number of a random draw that hold the number of the request; the bits
/// above them hold the number of the pause. No run has 2^40 requests.
const PAUSE_BITS: u32 = 40;

/// A generator of the values of requests, for a job or for one part of a mix. It also computes the
/// pauses. Each client has its own generators; clones share constants.
#[derive(Clone, Debug)]
pub struct Generator {
    program: Arc<Program>,
    variables: Vec<Datum>,
    /// Values to write into the text of a statement, in order.
    written: Vec<Datum>,
    /// Buffer for texts to be written, and for the variables of a pause.
    scratch: Values,
}

#[derive(Debug)]
struct Program {
    started: WallTime,
    dialect: Dialect,
    blanks: Blanks,
    lets: Vec<Node>,
    templates: Vec<Template>,
    think: Option<Node>,
    think_has_variables: bool,
}

/// The treatment of blanks at the ends of literals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blanks {
    /// All blanks are kept: this is the text that requests execute.
    Kept,
    /// Blanks are removed where the text around the literal makes them superfluous.
    Removed,
}

/// A statement, with the expressions to evaluate for each request.
#[derive(Debug)]
struct Template {
    pieces: Vec<Piece>,
    /// Bound expressions, in order.
    bound: Vec<Node>,
    /// Expressions written into the text, in order.
    written: Vec<Node>,
    /// True if each request has its own text.
    has_text: bool,
}

impl Template {
    fn new(statement: &Statement, prepares: bool) -> Template {
        let has_text = !prepares || statement.is_dynamic();
        let written = statement.pieces.iter().filter_map(|piece| match piece {
            Piece::Splice(expr) | Piece::Quoted(expr) => Some(expr.0.clone()),
            Piece::Value(expr) => has_text.then(|| expr.0.clone()),
            Piece::Text(_) => None,
        });
        let bound = statement.bound().filter(|_| !has_text).map(|expr| expr.0.clone());
        Template {
            bound: bound.collect(),
            written: written.collect(),
            has_text,
            pieces: statement.pieces.clone(),
        }
    }
}

impl Generator {
    /// Creates the generator of a job for a run that started at `started`, with literals in
    /// `dialect`. The generator also computes pauses: of a session between its statements, or of a
    /// client between its requests.
    pub fn new(job: &Job, started: WallTime, dialect: Dialect) -> Generator {
        Generator::with_pauses(&job.requests, job.think(), started, dialect, Blanks::Kept)
    }

    /// Creates the generator of a part of a mix, as [`new`](Self::new). Its only pauses are the
    /// pauses of a session between its statements.
    pub fn of_part(part: &Part, started: WallTime, dialect: Dialect) -> Generator {
        Generator::with_pauses(&part.requests, None, started, dialect, Blanks::Kept)
    }

    fn with_pauses(
        requests: &Requests,
        think: Option<&Expr>,
        started: WallTime,
        dialect: Dialect,
        blanks: Blanks,
    ) -> Generator {
        let think = requests.pause().or(think).map(|expr| expr.0.clone());
        let most_pieces = requests.statements.iter().map(|statement| statement.pieces.len()).max();
        let templates =
            requests.statements.iter().map(|each| Template::new(each, requests.prepare));
        let program = Program {
            started,
            dialect,
            blanks,
            lets: requests.lets.iter().map(|variable| variable.value.0.clone()).collect(),
            templates: templates.collect(),
            think_has_variables: think.as_ref().is_some_and(Node::has_variables),
            think,
        };
        Generator {
            variables: vec![Datum::Null; program.lets.len()],
            written: Vec::with_capacity(most_pieces.unwrap_or_default()),
            scratch: Values::new(),
            program: Arc::new(program),
        }
    }

    /// Appends the values of request `number`, which takes the records of `group`.
    ///
    /// For each statement in order, these are its bound values. If the statement [is
    /// dynamic](Statement::is_dynamic) or its job does not prepare statements, one text takes their
    /// place: the whole statement with literals for its values. `values` is not cleared.
    pub fn fill(&mut self, number: u64, group: Group<'_>, values: &mut Values) {
        let Generator { program, variables, written, scratch } = self;
        program.evaluate_lets(number, group, variables, values);
        for (place, template) in program.templates.iter().enumerate() {
            let record = group.record(place);
            let eval_context =
                |variables, texts| program.eval_context(number, record, variables, texts);
            for value in &template.bound {
                value.eval(eval_context(variables, None), values).bind(values);
            }
            if template.has_text {
                scratch.clear();
                written.clear();
                for value in &template.written {
                    written.push(value.eval(eval_context(variables, Some(values)), scratch));
                }
                values.push_text(|out| program.write(&template.pieces, written, scratch, out));
            }
        }
    }

    /// Returns the length of a pause. For a client of a closed job, this is the pause after request
    /// `number`, and `pause` is 0. For the session `number`, it is the pause after statement
    /// `pause`, counted from 0. Zero without `think`.
    #[inline]
    pub fn think(&mut self, number: u64, pause: u64) -> Nanos {
        if self.program.think.is_some() { self.draw_pause(number, pause) } else { Nanos::ZERO }
    }

    fn draw_pause(&mut self, number: u64, pause: u64) -> Nanos {
        let Generator { program, variables, scratch, .. } = self;
        let Some(think) = &program.think else {
            return Nanos::ZERO;
        };
        scratch.clear();
        if program.think_has_variables {
            program.evaluate_lets(number, Group::NONE, variables, scratch);
        }
        // Each pause of each session has a draw number of its own, and so random numbers of its
        // own.
        let draw = number ^ pause << PAUSE_BITS;
        let context = EvalContext { draw, ..program.eval_context(number, None, variables, None) };
        match think.eval(context, scratch) {
            Datum::Duration(nanos) => Nanos(u64::try_from(nanos).unwrap_or(0)),
            Datum::Null | Datum::Int(_) | Datum::Real(_) | Datum::Timestamp(_) | Datum::Text(_) => {
                Nanos::ZERO
            }
        }
    }
}

/// Returns each statement of request 0 as text with literals for its values. The request takes the
/// records of `group`.
pub fn example(
    requests: &Requests,
    started: WallTime,
    dialect: Dialect,
    group: Group<'_>,
) -> Vec<String> {
    let written = Requests { prepare: false, ..requests.clone() };
    let mut generator = Generator::with_pauses(&written, None, started, dialect, Blanks::Removed);
    let mut values = Values::new();
    generator.fill(0, group, &mut values);
    let texts = values.items().iter().filter_map(|value| match value {
        Value::Text(text) => Some(values.resolve(*text).to_owned()),
        Value::Null | Value::Int(_) | Value::Real(_) => None,
    });
    texts.collect()
}

impl Program {
    fn eval_context<'m>(
        &self,
        number: u64,
        record: Option<Record<'m>>,
        variables: &'m [Datum],
        texts: Option<&'m Values>,
    ) -> EvalContext<'m> {
        EvalContext { number, draw: number, started: self.started, variables, texts, record }
    }

    /// Evaluates the variables in order, with their texts in `out`.
    fn evaluate_lets(
        &self,
        number: u64,
        group: Group<'_>,
        variables: &mut [Datum],
        out: &mut Values,
    ) {
        for (place, variable) in self.lets.iter().enumerate() {
            let eval_context = self.eval_context(number, group.record(0), variables, None);
            variables[place] = variable.eval(eval_context, out);
        }
    }

    /// Writes a whole statement; `written` are the values in its text, with their texts in `texts`.
    fn write(&self, pieces: &[Piece], written: &[Datum], texts: &Values, out: &mut String) {
        let mut written = written.iter();
        let mut next = || written.next().copied().unwrap_or(Datum::Null);
        for (place, piece) in pieces.iter().enumerate() {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Value(_) => {
                    let start = out.len();
                    next().write_literal(self.dialect, texts, out);
                    if self.blanks == Blanks::Removed {
                        remove_blanks(start, pieces.get(place + 1), out);
                    }
                }
                Piece::Splice(_) => next().splice(texts, out),
                Piece::Quoted(_) => {
                    let start = out.len();
                    next().splice(texts, out);
                    quote_for_shell(start, out);
                }
            }
        }
    }
}

/// Removes the blanks around the literal between `start` and the end of `out`, on each side on
/// which the neighbouring text already separates it.
fn remove_blanks(start: usize, next: Option<&Piece>, out: &mut String) {
    let is_apart_after = match next {
        None => true,
        Some(Piece::Text(text)) => {
            text.starts_with(|c: char| c.is_whitespace() || matches!(c, ',' | ')' | ';'))
        }
        Some(Piece::Value(_) | Piece::Splice(_) | Piece::Quoted(_)) => false,
    };
    if is_apart_after && out.ends_with(' ') {
        out.pop();
    }
    let (before, literal) = out.split_at(start);
    let is_negative = literal.starts_with(" -");
    let is_apart_before = before.ends_with(|c: char| c.is_whitespace() || matches!(c, ',' | '('))
        || before.ends_with('=') && !is_negative;
    if is_apart_before && literal.starts_with(' ') {
        out.remove(start);
    }
}

/// A generator of the rows of one table. Each writer has its own; clones share constants.
#[derive(Clone, Debug)]
pub struct RowGenerator {
    columns: Arc<[Node]>,
    started: WallTime,
}

impl RowGenerator {
    /// Creates the generator of a table's rows for a run that started at `started`.
    pub fn new(load: &Load, started: WallTime) -> RowGenerator {
        RowGenerator {
            columns: load.columns.iter().map(|column| column.value.0.clone()).collect(),
            started,
        }
    }

    /// Returns true if all texts are certain to be ASCII.
    pub fn is_ascii(&self) -> bool {
        self.columns.iter().all(Node::is_ascii)
    }

    /// Appends the values of a row, counted from 0, in the order of the columns.
    pub fn fill(&mut self, row: u64, values: &mut Values) {
        for column in self.columns.iter() {
            let started = self.started;
            let eval_context = EvalContext {
                number: row,
                draw: row,
                started,
                variables: &[],
                texts: None,
                record: None,
            };
            column.eval(eval_context, values).bind(values);
        }
    }
}
