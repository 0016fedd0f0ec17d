//! Capabilities of client and server, and their negotiation.
//!
//! Protocol manual: "Capabilities Flags"; MariaDB: "Connection", "Capabilities". MariaDB's own
//! flags are the upper 32 bits.

use std::ops::{BitAnd, BitOr};

/// A set of capabilities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities(pub u64);

macro_rules! capabilities {
    ($($(#[$doc:meta])* $name:ident = $bit:literal;)*) => {
        impl Capabilities {
            $($(#[$doc])* pub const $name: Capabilities = Capabilities(1 << $bit);)*
        }
    };
}

capabilities! {
    /// `CLIENT_LONG_PASSWORD`, in MariaDB `CLIENT_MYSQL`: the peer is not MariaDB, and the upper 32
    /// flags are absent.
    MYSQL = 0;
    /// `CLIENT_FOUND_ROWS`: affected rows are the rows found instead of the rows changed.
    FOUND_ROWS = 1;
    /// `CLIENT_LONG_FLAG`: two bytes of column flags.
    LONG_FLAG = 2;
    /// `CLIENT_CONNECT_WITH_DB`: the login names a database.
    CONNECT_WITH_DB = 3;
    /// `CLIENT_LOCAL_FILES`: the server may request a file.
    LOCAL_FILES = 7;
    /// `CLIENT_PROTOCOL_41`: the only protocol that this crate supports.
    PROTOCOL_41 = 9;
    /// `CLIENT_SSL`.
    SSL = 11;
    /// `CLIENT_TRANSACTIONS`: status flags in replies.
    TRANSACTIONS = 13;
    /// `CLIENT_SECURE_CONNECTION`: a scramble of 20 bytes.
    SECURE_CONNECTION = 15;
    /// `CLIENT_MULTI_STATEMENTS`: several statements in one text.
    MULTI_STATEMENTS = 16;
    /// `CLIENT_MULTI_RESULTS`: several results of one text.
    MULTI_RESULTS = 17;
    /// `CLIENT_PS_MULTI_RESULTS`: several results of one prepared statement.
    PS_MULTI_RESULTS = 18;
    /// `CLIENT_PLUGIN_AUTH`: the login names its authentication method.
    PLUGIN_AUTH = 19;
    /// `CLIENT_CONNECT_ATTRS`: the login describes the client.
    CONNECT_ATTRS = 20;
    /// `CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA`: the response to the nonce may be long.
    PLUGIN_AUTH_LENENC_CLIENT_DATA = 21;
    /// `CLIENT_SESSION_TRACK`: replies report changes of the session's state.
    SESSION_TRACK = 23;
    /// `CLIENT_DEPRECATE_EOF`: OK packets instead of EOF packets.
    DEPRECATE_EOF = 24;
    /// `MARIADB_CLIENT_STMT_BULK_OPERATIONS`: `COM_STMT_BULK_EXECUTE`.
    STMT_BULK_OPERATIONS = 34;
    /// `MARIADB_CLIENT_EXTENDED_METADATA`: type names in column definitions.
    EXTENDED_METADATA = 35;
    /// `MARIADB_CLIENT_CACHE_METADATA`: column definitions that the client already has are omitted.
    CACHE_METADATA = 36;
}

/// Capabilities that a load generator requests as a client. [`Negotiated`] contains those that the
/// server offers, too.
pub const WANTED: Capabilities = Capabilities(
    REQUIRED.0
        | Capabilities::LONG_FLAG.0
        | Capabilities::TRANSACTIONS.0
        | Capabilities::MULTI_STATEMENTS.0
        | Capabilities::MULTI_RESULTS.0
        | Capabilities::PS_MULTI_RESULTS.0
        | Capabilities::PLUGIN_AUTH.0
        | Capabilities::CONNECT_ATTRS.0
        | Capabilities::PLUGIN_AUTH_LENENC_CLIENT_DATA.0
        | Capabilities::DEPRECATE_EOF.0
        | Capabilities::STMT_BULK_OPERATIONS.0
        | Capabilities::CACHE_METADATA.0,
);

/// Capabilities that the server must offer; otherwise the login fails.
pub(crate) const REQUIRED: Capabilities =
    Capabilities(Capabilities::PROTOCOL_41.0 | Capabilities::SECURE_CONNECTION.0);

impl Capabilities {
    /// Returns true if all capabilities of `others` are set.
    #[inline]
    pub const fn contains(self, others: Capabilities) -> bool {
        self.0 & others.0 == others.0
    }

    /// Returns the set without the capabilities of `others`.
    pub const fn without(self, others: Capabilities) -> Capabilities {
        Capabilities(self.0 & !others.0)
    }

    /// Returns the lower 32 flags, which MySQL and MariaDB share.
    pub(crate) fn lower(self) -> u32 {
        let [a, b, c, d, ..] = self.0.to_le_bytes();
        u32::from_le_bytes([a, b, c, d])
    }

    /// Returns the upper 32 flags, which only MariaDB uses.
    pub(crate) fn upper(self) -> u32 {
        let [.., a, b, c, d] = self.0.to_le_bytes();
        u32::from_le_bytes([a, b, c, d])
    }

    /// Combines the lower and the upper 32 flags; the upper ones are ignored if `MYSQL` is set.
    pub(crate) fn of_halves(lower: u32, upper: u32) -> Capabilities {
        let lower = Capabilities(u64::from(lower));
        if lower.contains(Capabilities::MYSQL) {
            lower
        } else {
            Capabilities(lower.0 | u64::from(upper) << 32)
        }
    }
}

impl BitOr for Capabilities {
    type Output = Capabilities;

    fn bitor(self, other: Capabilities) -> Capabilities {
        Capabilities(self.0 | other.0)
    }
}

impl BitAnd for Capabilities {
    type Output = Capabilities;

    fn bitand(self, other: Capabilities) -> Capabilities {
        Capabilities(self.0 & other.0)
    }
}

/// The negotiated capabilities, on which the formats of several messages depend.
///
/// The field is private because the capabilities depend on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Negotiated(Capabilities);

impl Negotiated {
    /// Returns the result of negotiation for a client that requests `wanted` and a server that
    /// offers `offered`.
    ///
    /// `MYSQL` is set if and only if the server offers it: MySQL requires the flag, and MariaDB
    /// reads the upper 32 bits only from a client that does not set the flag.
    pub fn of(offered: Capabilities, wanted: Capabilities) -> Negotiated {
        let both = offered & wanted.without(Capabilities::MYSQL);
        Negotiated(both | (offered & Capabilities::MYSQL))
    }

    /// Returns the negotiated capabilities.
    pub fn capabilities(self) -> Capabilities {
        self.0
    }

    /// Returns true if all of `capabilities` were negotiated.
    #[inline]
    pub const fn has(self, capabilities: Capabilities) -> bool {
        self.0.contains(capabilities)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negotiated_capabilities_are_common_to_both_sides() {
        let cache = Capabilities::CACHE_METADATA;
        let offered = Capabilities::DEPRECATE_EOF | Capabilities::SSL | cache;
        let agreed = Negotiated::of(offered, WANTED);
        assert!(agreed.has(Capabilities::DEPRECATE_EOF | cache));
        assert!(!agreed.has(Capabilities::SSL) && !agreed.has(Capabilities::MULTI_RESULTS));
        assert!(!agreed.has(Capabilities::MYSQL));
        assert!(Negotiated::of(Capabilities::MYSQL, WANTED).has(Capabilities::MYSQL));
    }

    #[test]
    fn mysql_has_no_extended_capabilities() {
        let bulk = Capabilities::STMT_BULK_OPERATIONS;
        assert!(Capabilities::of_halves(0, bulk.upper()).contains(bulk));
        assert!(!Capabilities::of_halves(1, bulk.upper()).contains(bulk));
    }
}
