//! The user who runs the program.

/// Returns the name of the user, from `USER` or `LOGNAME`; `unknown` if neither is set.
pub(crate) fn name() -> String {
    let set = ["USER", "LOGNAME"].into_iter().filter_map(|name| std::env::var(name).ok());
    set.into_iter().find(|name| !name.trim().is_empty()).unwrap_or_else(|| "unknown".to_owned())
}
