//! Restriction of statements to the database's own file.
//!
//! SQL can write files anywhere: `attach` creates a database at a path, `vacuum into` copies the
//! database to a path, and an extension is a library loaded into this process. SQLite calls an
//! authorizer for each of these actions when a statement is prepared ("Compile-Time Authorization
//! Callbacks").

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Connection, Result, ffi};

/// Pragmas that set the directories in which SQLite creates files.
const FOLDERS: [&str; 2] = ["temp_store_directory", "data_store_directory"];

/// The remedy for a statement that is refused.
pub(super) const REMEDY: &str =
    "a statement that uses another file than the database needs --allow-files";

/// Makes the connection refuse statements that access other files.
pub(super) fn install(connection: &mut Connection) -> Result<()> {
    connection.authorizer(Some(|context: AuthContext<'_>| authorize(&context.action)))
}

fn authorize(action: &AuthAction<'_>) -> Authorization {
    let is_refused = match action {
        // `vacuum` attaches a temporary database without a name.
        AuthAction::Attach { filename } => !matches!(*filename, "" | ":memory:"),
        // The name is an expression that is evaluated later.
        AuthAction::Unknown { code, .. } => *code == ffi::SQLITE_ATTACH,
        AuthAction::Function { function_name } => {
            function_name.eq_ignore_ascii_case("load_extension")
        }
        AuthAction::Pragma { pragma_name, pragma_value } => {
            pragma_value.is_some()
                && FOLDERS.iter().any(|name| pragma_name.eq_ignore_ascii_case(name))
        }
        _ => false,
    };
    if is_refused { Authorization::Deny } else { Authorization::Allow }
}

#[cfg(test)]
mod tests {
    use crate::sqlite::tests::{real, scratch};
    use crate::{Connection, Driver};

    #[test]
    fn confined_statements_reach_no_other_file() {
        let (driver, folder) = scratch();
        let driver = driver.confined();
        let other = folder.join("other");
        let path = other.display();
        real(async |rt| {
            let mut connection = driver.connect(&rt).await.unwrap();
            connection.query_text("create table t (x)").await.unwrap();
            for text in [
                format!("attach '{path}' as other"),
                format!("attach database '{path}' || '' as other"),
                format!("attach 'file:{path}?mode=rwc' as other"),
                format!("vacuum into '{path}'"),
                format!("vacuum into '{path}' || ''"),
                format!("select load_extension('{path}')"),
                format!("pragma temp_store_directory = '{}'", folder.display()),
                format!("pragma data_store_directory = '{}'", folder.display()),
            ] {
                let error = connection.query_text(&text).await.unwrap_err();
                assert!(error.message().contains("authoriz"), "{text}: {error}");
                assert!(!other.exists(), "{text}");
            }
            for text in ["vacuum", "attach ':memory:' as m", "pragma temp_store_directory"] {
                connection.query_text(text).await.unwrap_or_else(|error| panic!("{text}: {error}"));
            }
            connection.close().await;
        });
    }

    #[test]
    fn unconfined_statements_reach_other_files() {
        let (driver, folder) = scratch();
        real(async |rt| {
            let mut connection = driver.connect(&rt).await.unwrap();
            let other = folder.join("other");
            let text = format!("vacuum into '{}'", other.display());
            connection.query_text(&text).await.unwrap();
            assert!(other.exists());
            connection.close().await;
        });
    }
}
