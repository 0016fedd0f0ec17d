//! The command-line program: arguments, signals, display and exit codes.
//!
//! Results go to stdout, progress and errors to stderr. [`args`] parses the command line,
//! [`commands`] runs it, [`display`] shows the progress of a run, and [`exit`] has the exit codes.

mod args;
mod builtin;
mod bundle;
mod calibration;
mod commands;
mod complain;
mod disk_calibration;
mod display;
mod exit;
mod experiment_file;
mod findings;
mod go_drivers;
mod go_flags;
mod groups;
mod guide;
mod input_files;
mod inputs;
mod listening;
mod live_pages;
mod memory;
mod outputs;
mod reading;
mod record_file;
mod record_folder;
mod record_identity;
mod record_index;
mod record_list;
mod record_names;
mod recorded_experiment;
mod recorded_pages;
mod signals;
mod stderr;
mod timed_mutex;
mod trust;
mod unpacked_files;
mod user;
mod workload_file;
mod workload_folder;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Args, Command};

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return complain::print_usage(error),
    };
    if let Err(error) = signals::survive_file_size_limit() {
        complain::Complaint::of(&error).print();
        return exit::Exit::Usage.into();
    }
    let outcome = match args.command {
        Command::Run(run) => commands::run::run(&run),
        Command::Check(check) => commands::check::check(&check),
        Command::Load(load) => commands::load::load(&load),
        Command::Report(report) => commands::report::report(&report),
        Command::Compare(compare) => commands::compare::compare(&compare),
        Command::History(history) => commands::history::history(&history),
        Command::Serve(serve) => commands::serve::serve(&serve),
        Command::Repeat(repeat) => commands::repeat::repeat(&repeat),
        Command::Note(note) => commands::note::note(&note),
        Command::Publish(publish) => commands::publish::publish(&publish),
        Command::Explain(explain) => commands::explain::explain(&explain),
        Command::Export(export) => commands::export::export(&export),
        Command::Doctor(doctor) => commands::doctor::doctor(&doctor),
        Command::Observe(observe) => commands::observe::observe(&observe),
        Command::Calibrate(calibrate) => commands::calibrate::calibrate(&calibrate),
        Command::Dbbench(dbbench) => commands::dbbench::dbbench(&dbbench),
        Command::Workloads(workloads) => commands::workloads::workloads(&workloads),
        Command::Selftest(selftest) => commands::selftest::selftest(&selftest),
        Command::WireServer(server) => commands::calibrate::serve(&server),
    };
    match outcome {
        Ok(exit) => exit.into(),
        Err(complaint) => {
            complaint.print();
            complaint.exit().into()
        }
    }
}
