//! Names of components, of roles of server processes and of programs, as constants that samplers
//! and checks share.
//!
//! [`ComponentKind`](crate::ComponentKind) has the names of all other components.

/// The activity that the database itself counts.
pub const DATABASE: &str = "database";

/// The client sessions of the database.
pub const SESSIONS: &str = "sessions";

/// The database's sessions of clients other than the load generator or the observed program. The
/// name is used only to report that these sessions cannot be observed.
pub const SESSIONS_OF_OTHERS: &str = "sessions of others";

/// Role of PostgreSQL's process that writes checkpoints.
pub const CHECKPOINTER: &str = "checkpointer";

/// Role of PostgreSQL's process that writes dirty pages between checkpoints.
pub const BACKGROUND_WRITER: &str = "background writer";

/// Role of PostgreSQL's processes that vacuum and analyze tables.
pub const AUTOVACUUM_WORKER: &str = "autovacuum worker";

/// Role of PostgreSQL's processes that send the log or a base backup to another machine.
pub const WALSENDER: &str = "walsender";

/// Names of database programs, as the kernel reports them.
pub const DATABASE_PROGRAMS: [&str; 4] = ["postgres", "mariadbd", "mysqld", "postmaster"];
