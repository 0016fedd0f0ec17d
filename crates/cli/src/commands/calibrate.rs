//! `assay calibrate`: measures the overhead of the load generator on this machine, or a disk.

use std::path::Path;

use engine::Stop;
use lab::calibrate::{
    self, Calibration, CalibrationOptions, CalibrationResult, DiskOptions, DiskProblem, Machine,
    Problem, Store,
};

use crate::args::{CalibrateArgs, WireServerArgs};
use crate::calibration;
use crate::commands::answer::{print, print_document, style, unwrapped_style};
use crate::complain::Complaint;
use crate::disk_calibration;
use crate::exit::Exit;
use crate::reading::target_of;
use crate::{signals, stderr};

/// The remedy for an unusable calibration.
const CALIBRATE_AGAIN: &str = "run `assay calibrate` again on this machine, which replaces it";

/// The remedy for a folder in which no calibration can be stored.
const USE_ANOTHER_FOLDER: &str =
    "set XDG_STATE_HOME to a folder that can be written, or add --no-store";

pub(crate) fn calibrate(args: &CalibrateArgs) -> Result<Exit, Complaint> {
    if let Some(folder) = &args.disk {
        return calibrate_disk(args, folder);
    }
    let target = target_of(args.url.as_ref())?;
    let store = if args.no_store { None } else { Some(prepare_store()?) };
    let stop = Stop::default();
    signals::listen(stop.clone(), |_| {})?;
    let wanted = CalibrationOptions {
        target,
        is_quick: args.quick,
        program: std::env::current_exe().map_err(|error| Complaint::of(&error))?,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        stop,
    };
    let calibrated = match calibrate::calibrate(&wanted, &mut |what| show_step(args, what)) {
        Ok(calibrated) => calibrated,
        Err(problem) => return report_failure(&problem),
    };
    let kept = store.map(|store| store.save(&calibrated.calibration)).transpose();
    let file = kept.as_ref().ok().and_then(|file| file.as_deref());
    print_answer(args, &wanted, &calibrated, file)?;
    kept.map_err(|error| {
        Complaint::new(format!("the calibration was not kept: {error}")).help(USE_ANOTHER_FOLDER)
    })?;
    Ok(Exit::Success)
}

/// Prints the name of a measurement that begins.
fn show_step(args: &CalibrateArgs, what: &str) {
    if !args.quiet {
        stderr::line(&format!("{what} …"));
    }
}

/// Measures the durable flushes of the disk of a folder.
fn calibrate_disk(args: &CalibrateArgs, folder: &Path) -> Result<Exit, Complaint> {
    let stop = Stop::default();
    signals::listen(stop.clone(), |_| {})?;
    let options = DiskOptions { folder: folder.to_owned(), is_quick: args.quick, stop };
    let figures = match calibrate::calibrate_disk(&options, &mut |what| show_step(args, what)) {
        Ok(figures) => figures,
        Err(problem @ DiskProblem::Interrupted) => {
            Complaint::of(&problem).print();
            return Ok(Exit::Interrupted);
        }
        Err(problem) => {
            let help =
                "name a folder that can be written, on the file system of the database's log";
            return Err(Complaint::of(&problem).help(help));
        }
    };
    if figures.is_misleading() {
        let (folder, kind) = (figures.folder.display(), &figures.file_system);
        let sentence = format!("`{folder}` is on {kind}, which is not the disk of a database");
        let help = "name a folder on the file system of the database's log";
        Complaint::warning(sentence).help(help).print();
    }
    match args.json {
        true => print_document(&disk_calibration::document(&figures, args.quick))?,
        false => print(&disk_calibration::text(&figures, &style()))?,
    }
    Ok(Exit::Success)
}

/// Returns the store, after checking that its folder is writable: a calibration must not be lost
/// after the wait.
fn prepare_store() -> Result<Store, Complaint> {
    let missing = "there is no folder for calibrations: neither XDG_STATE_HOME nor HOME is set";
    let store = default_store().ok_or_else(|| Complaint::new(missing).help(USE_ANOTHER_FOLDER))?;
    store.prepare().map_err(|error| {
        let file = store.file(&Machine::here());
        let folder = file.parent().unwrap_or(&file).display();
        Complaint::new(format!("nothing can be written into `{folder}`: {error}"))
            .help(USE_ANOTHER_FOLDER)
    })?;
    Ok(store)
}

/// Returns the store in the user's state folder; `None` if there is no such folder.
pub(crate) fn default_store() -> Option<Store> {
    Store::in_user_folder(|name| std::env::var_os(name))
}

/// Returns the stored calibration of this machine, which a run refers to; warns about an unusable
/// one and ignores it.
pub(crate) fn stored_calibration() -> Option<Calibration> {
    match default_store()?.read(&Machine::here()) {
        Ok(calibration) => calibration,
        Err(unusable) => {
            Complaint::warning(unusable.to_string()).help(CALIBRATE_AGAIN).print();
            None
        }
    }
}

fn print_answer(
    args: &CalibrateArgs,
    wanted: &CalibrationOptions,
    calibrated: &CalibrationResult,
    file: Option<&Path>,
) -> Result<(), Complaint> {
    let target = wanted.target.as_ref().map(ToString::to_string);
    match args.json {
        true => print_document(&calibrated.document(target.as_deref(), file)),
        false => print(&calibration::text(calibrated, target.as_deref(), file, &unwrapped_style())),
    }
}

/// Prints the problem and returns its exit code, if the user interrupted a calibration or its
/// server cannot be reached. Returns any other problem as the error.
fn report_failure(problem: &Problem) -> Result<Exit, Complaint> {
    let exit = match problem {
        Problem::Unreachable(_) => Exit::Unreachable,
        Problem::Interrupted => Exit::Interrupted,
        Problem::Server(_)
        | Problem::System(_)
        | Problem::Run(_)
        | Problem::Record(_)
        | Problem::Failed(_) => return Err(Complaint::new(problem.to_string())),
    };
    Complaint::new(problem.to_string()).print();
    Ok(exit)
}

/// Serves the simulated database for another process of this program.
pub(crate) fn serve(args: &WireServerArgs) -> Result<Exit, Complaint> {
    calibrate::serve(&args.protocol).map_err(|error| Complaint::new(error.to_string()))?;
    Ok(Exit::Success)
}
