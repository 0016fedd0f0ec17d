//! What does the next request send? What is in the next row?
//!
//! After the first requests have grown the buffers to their size, making values allocates nothing.

use std::sync::Arc;

use base::{Nanos, Placeholders, Values, WallTime};

use super::{Datum, Moment};
use crate::expr::Node;
use crate::plan::{Job, Load, Piece, Statement, write_placeholder};

/// Makes the values of one job's requests. Each client has its own; clones share what is constant.
#[derive(Clone, Debug)]
pub struct Generator {
    program: Arc<Program>,
    variables: Vec<Datum>,
    spliced: Vec<Datum>,
    /// Where spliced texts and the variables of a pause are made.
    scratch: Values,
}

#[derive(Debug)]
struct Program {
    started: WallTime,
    placeholders: Placeholders,
    lets: Vec<Node>,
    statements: Vec<Statement>,
    think: Option<Node>,
    think_has_variables: bool,
}

impl Generator {
    /// The generator of a job in a run that started at `started`; the texts of dynamic statements
    /// get placeholders of the given style.
    pub fn new(job: &Job, started: WallTime, placeholders: Placeholders) -> Generator {
        let think = job.think().map(|expr| expr.0.clone());
        let most_splices = job.statements.iter().map(|statement| statement.spliced().count()).max();
        let program = Program {
            started,
            placeholders,
            lets: job.lets.iter().map(|variable| variable.value.0.clone()).collect(),
            statements: job.statements.clone(),
            think_has_variables: think.as_ref().is_some_and(Node::has_variables),
            think,
        };
        Generator {
            variables: vec![Datum::Null; program.lets.len()],
            spliced: Vec::with_capacity(most_splices.unwrap_or_default()),
            scratch: Values::new(),
            program: Arc::new(program),
        }
    }

    /// Appends the values of request `number`: for each statement in order its bound values and,
    /// if the statement [is dynamic](Statement::is_dynamic), one further text that is the whole
    /// statement with placeholders for those values. Nothing is cleared.
    pub fn fill(&mut self, number: u64, values: &mut Values) {
        let Generator { program, variables, spliced, scratch } = self;
        program.evaluate_lets(number, variables, values);
        for statement in &program.statements {
            program.bind(statement, number, variables, values);
            if statement.is_dynamic() {
                scratch.clear();
                spliced.clear();
                for expr in statement.spliced() {
                    let moment = program.moment(number, variables, Some(values));
                    spliced.push(expr.0.eval(moment, scratch));
                }
                values.push_text(|out| {
                    write_dynamic(statement, program.placeholders, spliced, scratch, out);
                });
            }
        }
    }

    /// How long a closed client pauses after request `number`; zero without `think`.
    pub fn think(&mut self, number: u64) -> Nanos {
        let Generator { program, variables, scratch, .. } = self;
        let Some(think) = &program.think else {
            return Nanos::ZERO;
        };
        scratch.clear();
        if program.think_has_variables {
            program.evaluate_lets(number, variables, scratch);
        }
        match think.eval(program.moment(number, variables, None), scratch) {
            Datum::Duration(nanos) => Nanos(u64::try_from(nanos).unwrap_or(0)),
            Datum::Null | Datum::Int(_) | Datum::Real(_) | Datum::Timestamp(_) | Datum::Text(_) => {
                Nanos::ZERO
            }
        }
    }
}

impl Program {
    fn moment<'m>(
        &self,
        number: u64,
        variables: &'m [Datum],
        texts: Option<&'m Values>,
    ) -> Moment<'m> {
        Moment { number, started: self.started, variables, texts }
    }

    /// Makes the variables in order, their texts in `out`.
    fn evaluate_lets(&self, number: u64, variables: &mut [Datum], out: &mut Values) {
        for (place, variable) in self.lets.iter().enumerate() {
            variables[place] = variable.eval(self.moment(number, variables, None), out);
        }
    }

    fn bind(&self, statement: &Statement, number: u64, variables: &[Datum], values: &mut Values) {
        for piece in &statement.pieces {
            if let Piece::Value(expr) = piece {
                let moment = self.moment(number, variables, None);
                expr.0.eval(moment, values).bind(values);
            }
        }
    }
}

fn write_dynamic(
    statement: &Statement,
    placeholders: Placeholders,
    spliced: &[Datum],
    texts: &Values,
    out: &mut String,
) {
    let mut spliced = spliced.iter();
    let mut bound = 0;
    for piece in &statement.pieces {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Value(_) => {
                bound += 1;
                write_placeholder(placeholders, bound, out);
            }
            Piece::Splice(_) => {
                if let Some(datum) = spliced.next() {
                    datum.splice(texts, out);
                }
            }
        }
    }
}

/// Makes the rows of one table. Each writer has its own; clones share what is constant.
#[derive(Clone, Debug)]
pub struct RowGenerator {
    columns: Arc<[Node]>,
    started: WallTime,
}

impl RowGenerator {
    /// The generator of a table's rows in a run that started at `started`.
    pub fn new(load: &Load, started: WallTime) -> RowGenerator {
        RowGenerator {
            columns: load.columns.iter().map(|column| column.value.0.clone()).collect(),
            started,
        }
    }

    /// Appends the values of the row with this number, counted from 0, in the columns' order.
    pub fn fill(&mut self, row: u64, values: &mut Values) {
        for column in self.columns.iter() {
            let moment = Moment { number: row, started: self.started, variables: &[], texts: None };
            column.eval(moment, values).bind(values);
        }
    }
}

impl Node {
    /// Whether it uses a variable of `let`.
    fn has_variables(&self) -> bool {
        let mut found = matches!(self, Node::Variable(_));
        self.children(&mut |child| found = found || child.has_variables());
        found
    }
}
