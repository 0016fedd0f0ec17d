//! Tests of the program as a user runs it: commands, files, signals, disks and exit codes.

#![allow(clippy::unwrap_used, reason = "helpers of tests may, as tests do")]

mod arms;
mod calibrate;
mod commands;
mod compare;
mod complaints;
mod dbbench;
mod dbbench_beside;
mod dbbench_files;
mod disk;
mod environment;
mod example;
mod exits;
mod experiment_records;
mod experiments;
mod false_alarms;
mod faults;
mod files;
mod floods;
mod foreign;
mod hostile;
mod inputs;
mod killed;
mod liar;
mod many;
mod mixed;
mod observe;
mod older_records;
mod options;
mod outage;
mod output;
mod pipelines;
mod plans;
mod poolers;
mod pull_requests;
mod quiet;
mod reconnect;
mod remote;
mod repeatable;
mod secrets;
mod selftest;
mod server_account;
mod servers;
mod side_effects;
mod signals;
mod statements;
mod studies;
#[path = "../support/mod.rs"]
mod support;
mod targets;
mod terminal;
mod trust;
mod warm_up;
mod watched;
mod workloads;
