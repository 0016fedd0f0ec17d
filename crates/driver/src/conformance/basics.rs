//! Cases about normal requests, for every driver.

use base::{Clock, Nanos};
use record::environment::SERVER;

use super::harness::{ensure, execute, run_steps, work};
use super::{CaseContext, Finding, Fixture, Verdict};
use crate::{Connection, Driver, PreparedId, Step, Work};

/// Number of connections open at the same time.
pub(super) const CONNECTIONS: usize = 64;

/// Checks that connections open, work and close, more than once.
pub async fn a_connection_opens_works_and_closes<F: Fixture>(
    context: CaseContext<'_, F>,
) -> Verdict {
    for _ in 0..2 {
        context.check_returns(1).await?;
    }
    Ok(())
}

/// Checks that ids count from 0, and that a rejected statement uses up no id.
pub async fn ids_count_from_zero_in_the_order_of_preparation<F: Fixture>(
    context: CaseContext<'_, F>,
) -> Verdict {
    let mut connection = context.connect().await?;
    for place in 0..3 {
        let _ = connection.prepare(&context.fixture.rejected().text).await;
        let id = connection.prepare(&context.fixture.returning(place)).await?;
        ensure!(id == PreparedId(place as u16), "statement {place} got the id {id:?}");
    }
    Ok(())
}

/// Checks that the times of the first byte sent and of the last byte read are readings of the
/// caller's clock, taken during the call.
pub async fn the_stamps_lie_within_the_call<F: Fixture>(context: CaseContext<'_, F>) -> Verdict {
    let mut connection = context.connect().await?;
    let statement = connection.prepare(&context.fixture.returning(1)).await?;
    for _ in 0..3 {
        let before = context.rt.now();
        let work = run_steps(&mut connection, [execute(statement)]).await?;
        let after = context.rt.now();
        let Some(sent) = work.reply.sent else {
            return Err(Finding::new("an answered request was never sent"));
        };
        let stamps = [before, sent, work.reply.done, after];
        ensure!(stamps.is_sorted(), "call, S, D and return are not in this order: {stamps:?}");
    }
    Ok(())
}

/// Checks that every statement has a time, that no other step has one, and that the sum of the
/// times is at most the time from the first byte sent to the last byte read.
pub async fn every_statement_has_a_time_and_no_other_step<F: Fixture>(
    context: CaseContext<'_, F>,
) -> Verdict {
    let mut connection = context.connect().await?;
    let statement = connection.prepare(&context.fixture.returning(1)).await?;
    let steps = [Step::Begin, execute(statement), execute(statement), Step::Commit];
    let reply = run_steps(&mut connection, steps).await?.reply;
    ensure!(reply.statements.len() == 2, "2 statements have {} times", reply.statements.len());
    let service = reply.done.since(reply.sent.unwrap_or(reply.done));
    let total: Nanos = reply.statements.iter().copied().sum();
    ensure!(total <= service, "the statements took {total} of a service time of {service}");
    Ok(())
}

/// Checks that the rows of all statements of a request are counted together.
pub async fn rows_are_counted<F: Fixture>(context: CaseContext<'_, F>) -> Verdict {
    let mut connection = context.connect().await?;
    let three = connection.prepare(&context.fixture.returning(3)).await?;
    let five = connection.prepare(&context.fixture.returning(5)).await?;
    for (steps, rows) in
        [(vec![execute(three)], 3), (vec![execute(five), execute(three), execute(five)], 13)]
    {
        let reply = run_steps(&mut connection, steps).await?.reply;
        ensure!(reply.rows == rows, "{rows} rows are returned and {} counted", reply.rows);
    }
    Ok(())
}

/// Checks that a reply reports which statements had rows, in a transaction that is sent at once and
/// in one that is sent step by step.
pub async fn statements_with_rows_are_reported<F: Fixture>(context: CaseContext<'_, F>) -> Verdict {
    let mut connection = context.connect().await?;
    let none = connection.prepare(&context.fixture.returning(0)).await?;
    let two = connection.prepare(&context.fixture.returning(2)).await?;
    let text = Step::ExecuteText { text: 0 };
    let steps = [execute(none), execute(two), text, execute(two), execute(none)];
    for is_pipelined in [false, true] {
        let all = [Step::Begin].into_iter().chain(steps).chain([Step::Commit]);
        let mut work = work(all, &[]);
        work.values.push_text(|buffer| buffer.push_str(&context.fixture.returning(0)));
        work.is_pipelined = is_pipelined;
        connection.run(&mut work).await?;
        let with_rows = |index: &usize| work.reply.with_rows.contains(*index);
        let found: Vec<usize> = (0..steps.len()).filter(with_rows).collect();
        ensure!(
            found == [1, 3],
            "of {} statements [1, 3] have rows, and {found:?} are reported (sent at once: \
             {is_pipelined})",
            steps.len()
        );
    }
    Ok(())
}

/// Checks that a reset reply retains nothing of the previous request.
pub async fn reply_counts_one_run_only<F: Fixture>(context: CaseContext<'_, F>) -> Verdict {
    let mut connection = context.connect().await?;
    let statement = connection.prepare(&context.fixture.returning(2)).await?;
    let mut work = work([execute(statement)], &[]);
    let mut first: Option<Work> = None;
    for _ in 0..3 {
        work.reply.reset();
        connection.run(&mut work).await?;
        let first = first.get_or_insert_with(|| work.clone());
        ensure!(work.steps == first.steps, "the steps do not come back from the driver");
        let counts = |work: &Work| {
            let reply = &work.reply;
            let bytes = (reply.bytes_sent, reply.bytes_received);
            (reply.statements.len(), reply.rows, reply.with_rows, bytes)
        };
        ensure!(
            counts(&work) == counts(first),
            "the same request is counted as {:?} and as {:?}",
            counts(first),
            counts(&work)
        );
    }
    Ok(())
}

/// Checks that a statement sent as text needs no preparation and may differ each time.
pub async fn a_text_is_run_like_a_statement<F: Fixture>(context: CaseContext<'_, F>) -> Verdict {
    let mut connection = context.connect().await?;
    for rows in [1, 4] {
        let mut work = Work::default();
        let text = context.fixture.returning(rows);
        work.values.push_text(|buffer| buffer.push_str(&text));
        work.steps.push(Step::ExecuteText { text: 0 });
        connection.run(&mut work).await?;
        let found = (work.reply.statements.len(), work.reply.rows);
        ensure!(found == (1, u64::from(rows)), "1 text with {rows} rows is counted as {found:?}");
    }
    Ok(())
}

/// Checks that settings include the server, have unique names and no empty values, as records
/// require.
pub async fn settings_have_the_server_and_each_name_once<F: Fixture>(
    context: CaseContext<'_, F>,
) -> Verdict {
    let mut connection = context.connect().await?;
    let settings = connection.settings().await;
    ensure!(
        settings.iter().any(|(name, _)| name == SERVER),
        "no setting is called `server`: {settings:?}"
    );
    for (place, (name, value)) in settings.iter().enumerate() {
        ensure!(!value.is_empty(), "the setting `{name}` is empty");
        ensure!(
            settings[..place].iter().all(|(other, _)| other != name),
            "two settings are called `{name}`"
        );
    }
    Ok(())
}

/// Checks that connections do not interfere with each other.
pub async fn many_connections_work_at_the_same_time<F: Fixture>(
    context: CaseContext<'_, F>,
) -> Verdict {
    let opening: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let (driver, rt) = (context.fixture.driver(), context.rt.clone());
            context.rt.spawn(async move { driver.connect(&rt).await })
        })
        .collect();
    let mut connections = Vec::new();
    for connection in opening {
        connections.push(connection.await?);
    }
    let text = context.fixture.returning(1);
    let running: Vec<_> = connections
        .into_iter()
        .map(|mut connection| {
            let text = text.clone();
            context.rt.spawn(async move {
                let statement = connection.prepare(&text).await?;
                let work = run_steps(&mut connection, [execute(statement)]).await?;
                connection.close().await;
                Ok::<u64, crate::Error>(work.reply.rows)
            })
        })
        .collect();
    let mut rows = 0;
    for result in running {
        rows += result.await?;
    }
    ensure!(rows == CONNECTIONS as u64, "{CONNECTIONS} connections returned {rows} rows together");
    Ok(())
}
