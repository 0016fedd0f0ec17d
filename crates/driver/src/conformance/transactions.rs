//! Cases about isolation and locking between connections to one database.

use base::{Class, Clock, Value};

use super::basics::CONNECTIONS;
use super::harness::{
    TABLE, count, drop_after, ensure, execute, execute_with, join, number, run_steps, work,
};
use super::{CaseContext, Finding, StoringFixture, Verdict};
use crate::{Connection, Driver, Error, Reply, Step};

/// Checks that an error restores the state before the transaction, and that the connection is no
/// longer in the transaction.
pub async fn an_error_rolls_the_whole_transaction_back<F: StoringFixture>(
    context: CaseContext<'_, F>,
) -> Verdict {
    let mut connection = context.with_table().await?;
    let insert = context.prepare_insert(&mut connection).await?;
    let row = |first| execute_with(insert, first, 2);
    let steps = [Step::Begin, row(0), row(2), row(0), Step::Commit];
    let values = [2, 2, 3, 3].map(Value::Int);
    let failed = connection.run(&mut work(steps, &values)).await;
    ensure!(failed.is_err(), "a duplicate key in a transaction is accepted");
    let rows = count(&mut connection).await?;
    ensure!(rows == "1", "of a failed transaction {rows} rows are left");
    let steps = [Step::Begin, row(0), row(2), Step::Commit];
    connection.run(&mut work(steps, &values)).await?;
    let rows = count(&mut context.connect().await?).await?;
    ensure!(rows == "3", "after the next transaction another connection sees {rows} rows");
    Ok(())
}

/// Checks that a pipelined transaction behaves as it would step by step: each statement is counted
/// and has a time, and the first error rolls back the whole transaction.
pub async fn a_transaction_sent_at_once_is_one_transaction<F: StoringFixture>(
    context: CaseContext<'_, F>,
) -> Verdict {
    let mut connection = context.with_table().await?;
    let insert = context.prepare_insert(&mut connection).await?;
    let row = |first| execute_with(insert, first, 2);
    let values = [2, 2, 3, 3].map(Value::Int);
    let mut failing = work([Step::Begin, row(0), row(0), row(2), Step::Commit], &values);
    failing.is_pipelined = true;
    let class = connection.run(&mut failing).await.err().map(|error| error.class());
    ensure!(
        class == Some(Class::Constraint),
        "a duplicate key in a transaction that is sent at once is an error of class {class:?}"
    );
    let rows = count(&mut connection).await?;
    ensure!(rows == "1", "of a failed transaction that was sent at once {rows} rows are left");
    let mut whole = work([Step::Begin, row(0), row(2), Step::Commit], &values);
    whole.is_pipelined = true;
    let before = context.rt.now();
    connection.run(&mut whole).await?;
    let Reply { sent, done, statements, rows, .. } = &whole.reply;
    let found = (statements.len(), *rows);
    ensure!(found == (2, 2), "2 statements with a row each are counted as {found:?}");
    let stamps = [Some(before), *sent, Some(*done), Some(context.rt.now())];
    ensure!(stamps.is_sorted(), "the stamps do not lie within the call: {stamps:?}");
    let rows = count(&mut context.connect().await?).await?;
    ensure!(rows == "3", "after it another connection sees {rows} rows");
    Ok(())
}

/// Checks that another connection sees nothing of an open transaction and all of a committed one.
pub async fn transaction_is_visible_after_commit<F: StoringFixture>(
    context: CaseContext<'_, F>,
) -> Verdict {
    let mut writer = context.with_table().await?;
    let mut reader = context.connect().await?;
    let update = context.prepare_update(&mut writer).await?;
    let mut open = work([Step::Begin, execute_with(update, 0, 1)], &[Value::Int(5)]);
    writer.run(&mut open).await?;
    let during = number(&mut reader, 1).await?;
    ensure!(
        during.as_deref() == Some("0"),
        "an open transaction shows {during:?} to another connection"
    );
    run_steps(&mut writer, [Step::Commit]).await?;
    let after = number(&mut reader, 1).await?;
    ensure!(
        after.as_deref() == Some("5"),
        "a committed transaction shows {after:?} to another connection"
    );
    Ok(())
}

/// Maximum number of rounds in which two writers contend. In each round, the first writer holds the
/// lock for twice as many statements as before. The rounds end once the second is seen waiting.
const MOST_CONTENTIONS: u32 = 12;

/// Checks that the second of two writing transactions waits for the first, and that both succeed.
pub async fn writers_wait_for_each_other<F: StoringFixture>(
    context: CaseContext<'_, F>,
) -> Verdict {
    let mut first = context.with_table().await?;
    let mut second = context.connect().await?;
    let first_update = context.prepare_update(&mut first).await?;
    let second_update = context.prepare_update(&mut second).await?;
    let idle = first.prepare(&context.fixture.returning(1)).await?;
    for meeting in 0..MOST_CONTENTIONS {
        let lock = [Step::Begin, execute_with(first_update, 0, 1)];
        first.run(&mut work(lock, &[Value::Int(1)])).await?;
        let all = [Step::Begin, execute_with(second_update, 0, 1), Step::Commit];
        let mut waiting = work(all, &[Value::Int(2)]);
        let (waited, freed) = join(second.run(&mut waiting), async {
            for _ in 0..1 << meeting {
                run_steps(&mut first, [execute(idle)]).await?;
            }
            run_steps(&mut first, [Step::Commit]).await
        })
        .await;
        waited?;
        let freed = freed?;
        let found = number(&mut first, 1).await?;
        ensure!(
            found.as_deref() == Some("2"),
            "the second of two writers wrote last, and the row holds {found:?}"
        );
        if has_waited(&context, &waiting.reply, &freed.reply) {
            return Ok(());
        }
    }
    Err(Finding::new("no writer was ever seen waiting for another"))
}

/// Returns true if a request waited for the other transaction to commit.
fn has_waited<F: StoringFixture>(
    context: &CaseContext<'_, F>,
    waiting: &Reply,
    commit: &Reply,
) -> bool {
    if context.fixture.counts_lock_waits() {
        return waiting.busy_waits > 0;
    }
    waiting.sent < commit.sent && Some(waiting.done) > commit.sent
}

/// Checks that a lock timeout is an error of a class that is worth retrying.
pub async fn lock_timeout_is_a_conflict<F: StoringFixture>(context: CaseContext<'_, F>) -> Verdict {
    let mut holder = context.with_table().await?;
    let mut impatient = context.fixture.with_short_lock_timeout().connect(&context.rt).await?;
    let holds = context.prepare_update(&mut holder).await?;
    let wants = context.prepare_update(&mut impatient).await?;
    let lock = [Step::Begin, execute_with(holds, 0, 1)];
    holder.run(&mut work(lock, &[Value::Int(1)])).await?;
    let mut request =
        work([Step::Begin, execute_with(wants, 0, 1), Step::Commit], &[Value::Int(2)]);
    let Err(error) = impatient.run(&mut request).await else {
        return Err(Finding::new("a lock that another holds is granted"));
    };
    ensure!(
        error.class() == Class::Conflict,
        "a lock that stays is an error of class {}: {error}",
        error.class()
    );
    ensure!(
        request.reply.busy_waits > 0 || !context.fixture.counts_lock_waits(),
        "a vain wait is not counted"
    );
    run_steps(&mut holder, [Step::Commit]).await?;
    request.reply.reset();
    impatient.run(&mut request).await?;
    Ok(())
}

/// Checks that an abandoned connection releases its locks, at any stage of its transaction.
pub async fn abandoned_transaction_releases_its_locks<F: StoringFixture>(
    context: CaseContext<'_, F>,
) -> Verdict {
    let mut witness = context.with_table().await?;
    let update = context.prepare_update(&mut witness).await?;
    for others in [0, 1, 10, 100] {
        let mut lost = context.connect().await?;
        let lock = context.prepare_update(&mut lost).await?;
        let endless = lost.prepare(&context.fixture.endless()).await?;
        let steps = [Step::Begin, execute_with(lock, 0, 1)];
        lost.run(&mut work(steps, &[Value::Int(1)])).await?;
        let mut stuck = work([execute(endless)], &[]);
        drop_after(lost.run(&mut stuck), async {
            for _ in 0..others {
                number(&mut witness, 1).await?;
            }
            Ok::<(), Error>(())
        })
        .await?;
        lost.abandon();
        let mut request = work([execute_with(update, 0, 1)], &[Value::Int(2)]);
        witness.run(&mut request).await?;
        let found = number(&mut context.connect().await?, 1).await?;
        ensure!(
            found.as_deref() == Some("2"),
            "after an abandoned transaction the row holds {found:?}"
        );
    }
    Ok(())
}

/// Checks that each of many writers gets its turn.
pub async fn many_connections_write_at_the_same_time<F: StoringFixture>(
    context: CaseContext<'_, F>,
) -> Verdict {
    let mut witness = context.with_table().await?;
    let mut writers = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut connection = context.connect().await?;
        let insert = context.prepare_insert(&mut connection).await?;
        writers.push((connection, insert));
    }
    let writing: Vec<_> = writers
        .into_iter()
        .enumerate()
        .map(|(place, (mut connection, insert))| {
            context.rt.spawn(async move {
                let steps = [Step::Begin, execute_with(insert, 0, 2), Step::Commit];
                let id = Value::Int(10 + place as i64);
                connection.run(&mut work(steps, &[id, id])).await?;
                connection.close().await;
                Ok::<(), Error>(())
            })
        })
        .collect();
    for writer in writing {
        writer.await?;
    }
    let rows = count(&mut witness).await?;
    ensure!(
        rows == (CONNECTIONS + 1).to_string(),
        "{CONNECTIONS} writers have made {rows} rows of one in `{TABLE}`"
    );
    Ok(())
}
