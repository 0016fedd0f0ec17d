//! A bounded, deterministic run of the fuzz targets: what is known to be good, and mutations of it.

mod files;
mod mysql;
mod postgres;
mod support;
