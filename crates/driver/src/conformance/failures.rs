//! Cases about errors and lost connections, for every driver.

use base::{Class, Clock};

use super::bench::{dropped_after, ensure, execute, ran, refused, work};
use super::{CaseContext, Finding, Fixture, Verdict};
use crate::Connection;

/// Checks that the database's error message is passed on, and that the connection stays usable.
pub async fn a_rejected_statement_is_explained_and_the_connection_lives_on<F: Fixture>(
    bench: CaseContext<'_, F>,
) -> Verdict {
    let mut connection = bench.connect().await?;
    let rejected = bench.fixture.rejected();
    ensure!(
        rejected.class == Class::Statement,
        "the fixture expects class {} of a rejected statement",
        rejected.class
    );
    refused(connection.prepare(&rejected.text).await, &rejected)?;
    let statement = connection.prepare(&bench.fixture.returning(1)).await?;
    ran(&mut connection, [execute(statement)]).await?;
    Ok(())
}

/// Checks that the reply contains the statements before the failing one, and that later ones are
/// not run.
pub async fn a_failing_statement_ends_the_request_and_the_connection_lives_on<F: Fixture>(
    bench: CaseContext<'_, F>,
) -> Verdict {
    let mut connection = bench.connect().await?;
    let failing = bench.fixture.failing();
    let bad = connection.prepare(&failing.text).await?;
    let good = connection.prepare(&bench.fixture.returning(1)).await?;
    let mut work = work([execute(good), execute(bad), execute(good)], &[]);
    let before = bench.rt.now();
    refused(connection.run(&mut work).await, &failing)?;
    let after = bench.rt.now();
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
    let reply = ran(&mut connection, [execute(good)]).await?.reply;
    ensure!(reply.rows == 1, "after an error, 1 row is returned and {} counted", reply.rows);
    Ok(())
}

/// Checks that the class of a lost connection's error tells the engine to open another one.
pub async fn a_lost_connection_says_so<F: Fixture>(bench: CaseContext<'_, F>) -> Verdict {
    let mut connection = bench.connect().await?;
    let text = bench.fixture.sever();
    let lost = match connection.prepare(&text).await {
        Ok(statement) => ran(&mut connection, [execute(statement)]).await.err(),
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
    bench: CaseContext<'_, F>,
) -> Verdict {
    for others in [0, 1, 10] {
        let mut connection = bench.connect().await?;
        let endless = connection.prepare(&bench.fixture.endless()).await?;
        let mut work = work([execute(endless)], &[]);
        dropped_after(connection.run(&mut work), async {
            for _ in 0..others {
                bench.returns(1).await?;
            }
            Verdict::Ok(())
        })
        .await?;
        connection.abandon();
        bench.returns(1).await?;
    }
    Ok(())
}
