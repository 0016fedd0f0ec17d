//! Tests of error messages about faulty networked servers.
//!
//! Each message names the server and a remedy, and never the password.

mod copies;
mod floods;
mod grammar;
mod impostor;
mod large;
mod mariadb;
mod postgres;
mod sessions;
mod sha2;
mod tls;

use base::{Class, Endpoint, Target};
use driver::{Connection, Driver, Error, Step, Table, Work};
use rt::{Options, Rt, run_real};

/// Runs a task in real time.
fn in_real_time<T>(task: impl AsyncFnOnce(Rt) -> T) -> T {
    run_real(&Options::default(), |rt| task(rt)).expect("the system grants a runtime")
}

/// Connects and runs one text, and returns its result or an error.
async fn ask<D: Driver>(driver: &D, rt: &Rt, text: &str) -> Result<Table, Error> {
    let mut connection = driver.connect(rt).await?;
    let answer = connection.query_text(text).await;
    connection.close().await;
    answer
}

/// Returns the error of connecting and running a query.
fn refused<D: Driver>(driver: &D) -> Error {
    in_real_time(async |rt| ask(driver, &rt, "select 1").await.expect_err("a refusal"))
}

/// Returns the error of the first statement after the identification of the server.
fn error_after_identification<D: Driver>(driver: &D) -> Error {
    in_real_time(async |rt| {
        let mut connection = driver.connect(&rt).await.expect("a session");
        connection.identify().await;
        connection.query_text("select 1").await.expect_err("an error")
    })
}

/// Builds a request that consists of one text.
fn text(text: &str) -> Work {
    let mut work = Work::default();
    work.values.push_text(|buffer| buffer.push_str(text));
    work.steps.push(Step::ExecuteText { text: 0 });
    work
}

/// Asserts that an error has this class and code, and contains all of the words.
#[track_caller]
fn check(error: &Error, class: Class, code: &str, words: &[&str]) {
    assert_eq!((error.class(), error.code().as_str()), (class, code), "{error}");
    for word in words {
        assert!(error.message().contains(word), "`{word}` is missing: {error}");
    }
}

/// Returns a copy of a URL with a changed endpoint.
fn changed(target: &Target, change: impl FnOnce(&mut Endpoint)) -> Target {
    let mut target = target.clone();
    change(&mut target.endpoint);
    target
}

fn with_option(target: &Target, name: &str, value: &str) -> Target {
    let mut target = target.clone();
    target.options.push((name.to_owned(), value.to_owned()));
    target
}
