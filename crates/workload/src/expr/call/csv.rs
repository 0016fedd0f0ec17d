//! Arguments of `csv(FILE, column)`.

use std::sync::Arc;

use base::Diagnostic;

use super::arguments::{AllowedIn, Arguments, CompiledArgument, Parameter, Spec, Variadic};
use crate::expr::compiled::{Compiled, InvalidExpr};
use crate::expr::node::Family;
use crate::generate::{Column, Csv, Table, Texts};
use crate::value::{Constant, Type};
use crate::wording::{name_list, nearest, quoted};

pub(super) static SPEC: Spec = Spec {
    name: "csv",
    parameters: &[
        Parameter::required("file", "a constant text"),
        Parameter::required("column", "a constant integer from 1, or a constant text"),
    ],
    rest: Variadic::Nothing,
    allowed_in: AllowedIn::Anywhere,
    build,
    doc: "the column of a CSV file (RFC 4180, UTF-8, at most 64 MiB) as a text: its first row for \
          the first request or row, and again from the beginning after its last; a column is \
          given by its number, or by its name in the first line, which then is no row",
    example: "csv('streets.csv', 'name')",
};

fn build(arguments: &Arguments<'_>) -> Result<(Family, Type), InvalidExpr> {
    let (file, at) = (file(arguments)?, arguments.required(1)?);
    let column = column(arguments, at)?;
    // A scope without files allows no generators.
    let tables = arguments.scope.tables.ok_or(InvalidExpr(None))?;
    let mut csv = Csv { file, column, texts: Arc::default() };
    if tables.folder.is_unread() {
        return Ok((Family::Csv(csv), Type::Text));
    }
    let place = arguments.required(0)?.place;
    let table =
        tables.table(&csv.file).map_err(|(message, help)| place.error(message).help(help))?;
    let texts = match &csv.column {
        Column::Number(number) => column_by_number(&table, *number),
        Column::Name(name) => column_by_name(&table, name, &csv.file, at)?,
    };
    csv.texts = texts.ok_or_else(|| no_such_number(&table, &csv.file, at))?;
    if csv.rows() == 0 {
        return Err(place.error(format!("{} has no rows", quoted(&csv.file))).into());
    }
    Ok((Family::Csv(csv), Type::Text))
}

fn file(arguments: &Arguments<'_>) -> Result<String, InvalidExpr> {
    let given = arguments.required(0)?;
    match &given.value {
        Compiled::Constant(Constant::Text(name)) => Ok(name.clone()),
        Compiled::Constant(_) => {
            Err(given.mismatch(arguments.name(), "the name of a file in quotes").into())
        }
        Compiled::Dynamic(..) => Err(arguments.not_constant(given).into()),
    }
}

fn column(arguments: &Arguments<'_>, given: &CompiledArgument<'_>) -> Result<Column, InvalidExpr> {
    match &given.value {
        Compiled::Constant(Constant::Text(name)) => Ok(Column::Name(name.clone())),
        Compiled::Constant(Constant::Int(number)) => Ok(Column::Number(*number)),
        Compiled::Constant(_) => {
            Err(given.mismatch(arguments.name(), "the number or the name of a column").into())
        }
        Compiled::Dynamic(..) => Err(arguments.not_constant(given).into()),
    }
}

fn column_by_number(table: &Table, number: i64) -> Option<Arc<Texts>> {
    let place = usize::try_from(number).ok()?.checked_sub(1)?;
    table.get(place).cloned()
}

/// Returns the only column with this name in the first line; `None` if the file is empty.
fn column_by_name(
    table: &Table,
    name: &str,
    file: &str,
    at: &CompiledArgument<'_>,
) -> Result<Option<Arc<Texts>>, Diagnostic> {
    let mut same = table.iter().filter(|column| column.get(0) == name);
    match (same.next(), same.next()) {
        (Some(column), None) => Ok(Some(Arc::clone(column))),
        (Some(_), Some(_)) => Err(at
            .place
            .error(format!("{} has more than one column {}", quoted(file), quoted(name)))
            .help("give the number of the column: the first line is a row then")),
        (None, _) if table.is_empty() => Ok(None),
        (None, _) => {
            let error = format!("{} has no column {}", quoted(file), quoted(name));
            let names = || table.iter().map(|column| column.get(0));
            let error = at.place.error(error);
            Err(match nearest(name, names()) {
                Some(near) => error.did_you_mean(Some(near)),
                None => error.help(format!("its columns are {}", name_list(names()))),
            })
        }
    }
}

fn no_such_number(table: &Table, file: &str, at: &CompiledArgument<'_>) -> Diagnostic {
    let (file, shown) = (quoted(file), quoted(at.place.text()));
    match table.len() {
        0 => at.place.error(format!("{file} has no rows")),
        1 => at.place.error(format!("{file} has one column, and {shown} is not its number")),
        all => at.place.error(format!("unknown column {shown}: {file} has {all} columns")),
    }
    .help("columns are numbered from 1")
}

#[cfg(test)]
mod tests {
    use crate::expr::call::golden::{check, error};

    #[test]
    fn golden_values_never_change() {
        let streets = "High Street Mill Lane, East \"The\" Ring High Street Mill Lane, East \
                       \"The\" Ring High Street Mill Lane, East";
        check("csv('streets.csv', 'name')", streets);
        check("csv('streets.csv', column=2)", "zip 01234 04321 00815 zip 01234 04321 00815");
        check("csv('one.csv', 1)", "a b a b a b a b");
    }

    #[test]
    fn bad_arguments_are_refused() {
        error("csv('no.csv', 1)", "there is no file `no.csv`");
        error("csv('streets.csv', 3)", "unknown column `3`: `streets.csv` has 2 columns");
        error("csv('streets.csv', 0)", "unknown column `0`: `streets.csv` has 2 columns");
        error("csv('one.csv', -1)", "`one.csv` has one column, and `-1` is not its number");
        error("csv('streets.csv', 'nam')", "`streets.csv` has no column `nam`");
        error("csv('twice.csv', 'a')", "`twice.csv` has more than one column `a`");
        error("csv('empty.csv', 1)", "`empty.csv` has no rows");
        error("csv('empty.csv', 'a')", "`empty.csv` has no rows");
        error("csv('header.csv', 'a')", "`header.csv` has no rows");
        error(
            "csv('broken.csv', 1)",
            "in `broken.csv`: line 2: it has 1 field, and the first record has 2",
        );
        error("csv(5, 1)", "`csv` needs the name of a file in quotes, but `5` is an integer");
        error(
            "csv('one.csv', 1.5)",
            "`csv` needs the number or the name of a column, but `1.5` is a number with a point",
        );
        error(
            "csv('one.csv', row())",
            "`row()` differs from request to request, but `csv` needs a constant",
        );
        error("csv('one.csv')", "`csv` has no `column`");
    }
}
