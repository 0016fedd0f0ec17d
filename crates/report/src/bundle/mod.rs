//! The texts of a published bundle: its first file, the settings of every system, and the list of
//! undisclosed facts.

mod readme;
mod settings;
mod undisclosed;

pub use readme::{BundleView, BundledInput, InputOmission, bundle_readme};
pub use settings::{BundledRun, bundle_settings};
pub use undisclosed::{bundle_undisclosed, secret_names};
