//! Arguments of `client()`.

use super::arguments::{AllowedIn, Arguments, Spec, Variadic};
use crate::expr::compiled::InvalidExpr;
use crate::expr::node::Family;
use crate::expr::scope::ExprContext;
use crate::value::Type;

pub(super) static SPEC: Spec = Spec {
    name: "client",
    parameters: &[],
    rest: Variadic::Nothing,
    allowed_in: AllowedIn::Clients,
    build,
    doc: "the number of the client, from 0; only in a closed job (the number of the request modulo \
          `concurrency`)",
    example: "client()",
};

fn build(arguments: &Arguments<'_>) -> Result<(Family, Type), InvalidExpr> {
    match arguments.scope.context {
        ExprContext::Request(_, Some(clients)) => Ok((Family::Client(clients), Type::Int)),
        // Such calls are refused earlier.
        ExprContext::Request(_, None) | ExprContext::Row(_) | ExprContext::Fixed(_) => {
            Err(InvalidExpr(None))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::expr::call::golden::error;

    #[test]
    fn client_is_refused_outside_closed_jobs() {
        error("client()", "only clients of a closed job have numbers");
        error("client(1)", "only clients of a closed job have numbers");
    }
}
