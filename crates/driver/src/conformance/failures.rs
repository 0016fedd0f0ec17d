//! Cases about errors and lost connections, for every driver.

use base::{Class, Clock};

use super::harness::{drop_after, ensure, execute, expect_refused, run_steps, work};
use super::{CaseContext, Finding, Fixture, Verdict};
use crate::Connection;

/// Checks that the database's error message is passed on, and that the connection stays usable.
pub async fn rejected_statement_leaves_connection_usable<F: Fixture>(
    context: CaseContext<'_, F>,
) -> Verdict {
    let mut connection = context.connect().await?;
    let rejected = context.fixture.rejected();
    ensure!(
        rejected.class == Class::Statement,
        "the fixture expects class {} of a rejected statement",
        rejected.class
    );
    expect_refused(connection.prepare(&rejected.text).await, &rejected)?;
    let statement = connection.prepare(&context.fixture.returning(1)).await?;
    run_steps(&mut connection, [execute(statement)]).await?;
    Ok(())
}

/// Checks that the reply contains the statements before the failing one, and that later ones are
/// not run.
pub async fn failing_statement_ends_request_and_leaves_connection_usable<F: Fixture>(
    context: CaseContext<'_, F>,
) -> Verdict {
    let mut connection = context.connect().await?;
    let failing = context.fixture.failing();
    let bad = connection.prepare(&failing.text).await?;
    let good = connection.prepare(&context.fixture.returning(1)).await?;
    let mut work = work([execute(good), execute(bad), execute(good)], &[]);
    let before = context.rt.now();
    expect_refused(connection.run(&mut work).await, &failing)?;
    let after = context.rt.now();
    let found = (work.reply.statements.len(), work.reply.rows);
    ensure!(
        found == (1, 1),
        "1 statement with 1 row was answered before the error, and {found:?} are counted"
    );
    let Some(sent) = work.reply.sent else {
        return Err(Finding::new("a failed request was never sent"));
    };
    ensure!(
        [before, sent, work.reply.done, after].is_sorted(),
        "the stamps of a failed request do not lie within the call"
    );
    let reply = run_steps(&mut connection, [execute(good)]).await?.reply;
    ensure!(reply.rows == 1, "after an error, 1 row is returned and {} counted", reply.rows);
    Ok(())
}

/// Checks that the class of the error tells the engine to open another connection.
pub async fn lost_connection_has_class_disconnect<F: Fixture>(
    context: CaseContext<'_, F>,
) -> Verdict {
    let mut connection = context.connect().await?;
    let text = context.fixture.sever();
    let lost = match connection.prepare(&text).await {
        Ok(statement) => run_steps(&mut connection, [execute(statement)]).await.err(),
        Err(error) => Some(error),
    };
    let Some(error) = lost else {
        return Err(Finding::new("a lost connection goes on"));
    };
    ensure!(
        error.class() == Class::Disconnect && error.class().ends_connection(),
        "a lost connection is an error of class {}: {error}",
        error.class()
    );
    connection.abandon();
    Ok(())
}

/// Checks that a request can be abandoned at any moment: before it is sent, in transit, or while it
/// runs.
pub async fn abandoned_request_leaves_other_connections_usable<F: Fixture>(
    context: CaseContext<'_, F>,
) -> Verdict {
    for others in [0, 1, 10] {
        let mut connection = context.connect().await?;
        let endless = connection.prepare(&context.fixture.endless()).await?;
        let mut work = work([execute(endless)], &[]);
        drop_after(connection.run(&mut work), async {
            for _ in 0..others {
                context.check_returns(1).await?;
            }
            Verdict::Ok(())
        })
        .await?;
        connection.abandon();
        context.check_returns(1).await?;
    }
    Ok(())
}
