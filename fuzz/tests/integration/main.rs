//! A bounded, deterministic run of the fuzz targets over valid inputs and mutations of them.

mod corpus;
mod files;
mod mysql;
mod postgres;
mod support;
