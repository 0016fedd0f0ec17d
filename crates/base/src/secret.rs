//! A string that cannot be printed.

use std::fmt;

use crate::{percent_encoded, printable};

/// A password or a key. It has no `Display` and no serialization, and its `Debug` shows nothing:
/// the only access to the text is [`Secret::expose`], which is easy to search for.
///
/// ```compile_fail
/// println!("{}", base::Secret::new("hunter2"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text that must never be shown.
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    /// Returns the text itself, for code that sends it to a server or hides it in other texts.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Words that precede a secret: names of columns, options, environment variables and headers, and
/// clauses of SQL.
const SECRET_WORDS: [&str; 18] = [
    "pass",
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "identified by",
    "secret",
    "token",
    "credential",
    "credentials",
    "authorization",
    "bearer",
    "apikey",
    "api-key",
    "api_key",
    "access-key",
    "access_key",
    "private_key",
];

/// Words that precede a secret only as whole words, because other words contain them: `DB_PW` and
/// `GH_PAT`, not `PATH`. A data source name (`dsn`) may contain a password.
const SECRET_WHOLE_WORDS: [&str; 4] = ["pw", "pat", "jwt", "dsn"];

/// Number of bytes before a value that are searched for a word or an option that precedes a secret.
/// It is limited because a long statement has many values.
const LOOK_BACK: usize = 256;

/// Prefixes of a literal in quotes: escapes (`E`), national characters (`N`), bits (`B`),
/// hexadecimal digits (`X`) and Unicode escapes (`U&`).
const LITERAL_PREFIXES: [&str; 5] = ["e", "n", "b", "x", "u&"];

/// Programs whose option `-p` takes a password.
const PASSWORD_PROGRAMS: [&str; 2] = ["mysql", "mariadb"];

/// Programs whose password option has a different name, with this option.
const PASSWORD_OPTIONS: [(&str, &str); 2] = [("sqlcmd", "-P"), ("redis-cli", "-a")];

/// Text that replaces a secret.
pub const HIDDEN: &str = "(secret)";

/// Length in bytes below which a secret is hidden only as a whole word: `a` is in most texts.
const SHORTEST_PART_OF_WORD: usize = 4;

/// Number of characters from which a match of a text with a secret, or with the beginning of a
/// secret, is not due to chance.
const SHORTEST_DISTINCT: usize = 8;

/// Marks for a part of a text that was left out.
const CUT_MARKS: [&str; 2] = ["…", "..."];

/// Minimum length in bytes of a text that may have been cut without a mark. MySQL cuts quoted texts
/// after 64 characters or more, and a record names statements by their first 60 characters.
const SHORTEST_CUT: usize = 60;

/// The secrets of a run, which are removed from texts from outside, such as a server's messages,
/// before these are shown or recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Secrets(Vec<Secret>);

impl Secrets {
    /// Collects secrets, as they are and as [`printable()`] shows them. An empty one is ignored.
    pub fn new(secrets: impl IntoIterator<Item = Secret>) -> Secrets {
        Secrets::sorted(secrets).with_form(|text| printable(text).into_owned())
    }

    fn sorted(secrets: impl IntoIterator<Item = Secret>) -> Secrets {
        let mut all: Vec<Secret> =
            secrets.into_iter().filter(|secret| !secret.expose().is_empty()).collect();
        // Longest first: a secret may be a part of a longer one.
        all.sort_by(|one, other| {
            let order = other.expose().len().cmp(&one.expose().len());
            order.then_with(|| one.expose().cmp(other.expose()))
        });
        all.dedup();
        Secrets(all)
    }

    /// Collects the passwords of a login, as they are and as a URL writes them. `shown` are the
    /// parts of the login that texts repeat, such as the user. A password that equals one of them
    /// is not collected: hiding it in a text that shows the user would reveal it.
    pub fn of_login<'p>(
        passwords: impl IntoIterator<Item = &'p Secret>,
        shown: &[&str],
    ) -> Secrets {
        let passwords = passwords.into_iter().map(Secret::expose);
        let own = passwords.filter(|password| !shown.contains(password));
        // A `/` would end the login of a URL.
        let in_url = |text: &str| percent_encoded(text).replace('/', "%2F");
        Secrets::new(own.flat_map(|text| [text.to_owned(), in_url(text)].map(Secret::new)))
    }

    /// Combines several collections of secrets, such as those of several plans.
    pub fn of_all(all: impl IntoIterator<Item = Secrets>) -> Secrets {
        Secrets::new(all.into_iter().flat_map(|one| one.0))
    }

    /// Adds, for each secret, the form into which `form` converts it, because a text may contain
    /// the secret in that form.
    #[must_use]
    pub fn with_form(self, form: impl Fn(&str) -> String) -> Secrets {
        let forms: Vec<Secret> =
            self.0.iter().map(|secret| Secret::new(form(secret.expose()))).collect();
        Secrets::sorted(self.0.into_iter().chain(forms))
    }

    /// Returns the secrets of eight characters or more, for texts with names and settings, in which
    /// other words may equal a short secret. Hiding a password such as `on` there would make half
    /// of a text unreadable, and the places where it is hidden would reveal the password.
    #[must_use]
    pub fn distinct(self) -> Secrets {
        let is_distinct = |secret: &Secret| secret.expose().chars().count() >= SHORTEST_DISTINCT;
        Secrets(self.0.into_iter().filter(is_distinct).collect())
    }

    /// Returns true if there is no secret to hide.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a text with [`HIDDEN`] in place of each secret. The first eight or more characters
    /// of a secret are also replaced where the text may have been cut off: before `…` or `...`, at
    /// the end of a text of at least 60 bytes, or at the end of a part of that length between two
    /// `'`.
    pub fn hide(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| hide_one(&text, secret.expose()))
    }
}

/// Returns true if the name of an option, a variable or a header contains a word for a secret.
pub fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let mut words = name.split(|c: char| !c.is_alphanumeric());
    SECRET_WORDS.iter().any(|word| name.contains(word))
        || words.any(|word| SECRET_WHOLE_WORDS.contains(&word))
}

/// Returns true if the text before a value shows that the value is a secret. Such a text is the
/// beginning of a statement or a command, and ends with a word for a secret and separators, or with
/// an option for a password. The beginning of a literal may follow.
pub fn follows_secret_word(text: &str, value: &str) -> bool {
    let before = trim_separators(without_literal_start(text));
    let start = before.floor_char_boundary(before.len().saturating_sub(LOOK_BACK));
    let name = before[start..].to_ascii_lowercase();
    let last = name.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    SECRET_WORDS.iter().any(|word| name.ends_with(word))
        || SECRET_WHOLE_WORDS.contains(&last)
        || follows_password_clause(&name)
        || follows_replaced_password(&name)
        || follows_authorization_scheme(&name)
        || follows_password_option(&text[start..], value)
}

/// Returns the password option that a word of a command begins with, if the command names a program
/// with this option: `-a` of `redis-cli`.
pub fn password_option(command: &str, word: &str) -> Option<&'static str> {
    let is_meant =
        |(program, option): &&(&str, &str)| word.starts_with(option) && command.contains(program);
    PASSWORD_OPTIONS.iter().find(is_meant).map(|(_, option)| *option)
}

/// Returns true for separators between the word for a secret and the secret.
fn is_separator(character: char) -> bool {
    character.is_whitespace() || matches!(character, '=' | ':' | '\'' | '"' | '`' | '(')
}

/// Returns a text without the separators at its end. A `>` separates only as a part of `=>`, which
/// precedes the value of a named argument: in `token > 5` it compares.
fn trim_separators(text: &str) -> &str {
    let trimmed = text.trim_end_matches(is_separator);
    trimmed.strip_suffix("=>").map_or(trimmed, |name| name.trim_end_matches(is_separator))
}

/// Returns a text without the beginning of a literal at its end: PostgreSQL's `$tag$`, or a quote
/// after a prefix (`E'`) or after MySQL's name of a character set (`_utf8mb4'`).
fn without_literal_start(text: &str) -> &str {
    let is_in_word = |c: char| c.is_alphanumeric() || c == '_';
    if let Some(tag) = text.strip_suffix('$') {
        return tag.trim_end_matches(is_in_word).strip_suffix('$').unwrap_or(text);
    }
    let Some(quoted) = text.strip_suffix(['\'', '"']) else { return text };
    // White space may follow only the name of a character set.
    let prefixed = quoted.trim_end();
    let before = prefixed.trim_end_matches(|c: char| is_in_word(c) || c == '&');
    let word = &prefixed[before.len()..];
    let is_attached = prefixed.len() == quoted.len();
    let is_prefix = |prefix: &&str| is_attached && word.eq_ignore_ascii_case(prefix);
    let is_charset = word.starts_with('_') && !names_secret(word);
    let is_literal = is_charset || LITERAL_PREFIXES.iter().any(is_prefix);
    // A word in quotes is not a prefix.
    match is_literal && !before.ends_with(['\'', '"']) {
        true => before,
        false => text,
    }
}

/// Returns true if a statement of MySQL or MariaDB ends with a password clause in which a name
/// follows the word for a secret: `set password for ann =`, `identified with sha256_password by`.
fn follows_password_clause(text: &str) -> bool {
    let last: Vec<&str> = text.split_whitespace().rev().take(4).collect();
    matches!(
        last.as_slice(),
        [_, "for", "password", "set"] | ["by" | "as" | "using", _, "with" | "via", "identified"]
    )
}

/// Returns true if a statement of MySQL ends with `replace` after a clause for a new password: the
/// old password follows.
fn follows_replaced_password(text: &str) -> bool {
    let Some(before) = text.strip_suffix("replace") else { return false };
    if before.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
        return false;
    }
    let words: Vec<&str> = before.split_whitespace().collect();
    let sets_password = |pair: &[&str]| match pair {
        ["identified", _] => true,
        ["set", what] => what.starts_with("password"),
        _ => false,
    };
    words.windows(2).any(sets_password)
}

/// Returns true if a text ends with the header `Authorization:` and a scheme such as `Basic`.
fn follows_authorization_scheme(text: &str) -> bool {
    let header = text.rsplit_once(char::is_whitespace).map_or("", |(header, _)| header);
    header.trim_end_matches(is_separator).ends_with("authorization")
}

/// Returns true if a command ends with `-p`, or with `-u USER:` of curl, or with the option of
/// another known program. A number after `-p` is a port for most programs.
fn follows_password_option(text: &str, value: &str) -> bool {
    let is_quote = |character: char| matches!(character, '\'' | '"');
    let unquoted = text.trim_end_matches(is_quote);
    let trimmed = unquoted.trim_end();
    let (before, word) = trimmed.rsplit_once(char::is_whitespace).unwrap_or(("", trimmed));
    let word = word.trim_start_matches(is_quote);
    if word == "-p" {
        let is_port = value.trim_matches(is_quote).parse::<u16>().is_ok();
        let is_attached = unquoted.len() == trimmed.len();
        let asks_for_password =
            is_attached && PASSWORD_PROGRAMS.iter().any(|program| text.contains(program));
        return !is_port || asks_for_password;
    }
    if password_option(text, word) == Some(word) {
        return true;
    }
    let option = before.split_whitespace().next_back().unwrap_or_default();
    let is_user = matches!(option, "-u" | "--user")
        || ["-u", "--user="].iter().any(|option| word.starts_with(option));
    word.ends_with(':') && is_user
}

fn hide_one(text: &str, secret: &str) -> String {
    let head =
        secret.char_indices().nth(SHORTEST_DISTINCT).map_or(secret, |(end, _)| &secret[..end]);
    let mut shown = String::with_capacity(text.len());
    let (mut end, mut next) = (0, 0);
    while let Some(found) = text[next..].find(head) {
        let at = next + found;
        let after = at + common_length(&text[at..], secret);
        let is_hidden = match after - at == secret.len() {
            true => secret.len() >= SHORTEST_PART_OF_WORD || is_whole_word(text, at, after),
            false => is_cut(text, after),
        };
        if is_hidden {
            shown.push_str(&text[end..at]);
            shown.push_str(HIDDEN);
            end = after;
        }
        next = if is_hidden { after } else { text.ceil_char_boundary(at + 1) };
    }
    shown.push_str(&text[end..]);
    shown
}

/// Returns the length of the beginning that two texts have in common, in bytes.
fn common_length(one: &str, other: &str) -> usize {
    let same = one.chars().zip(other.chars()).take_while(|(one, other)| one == other);
    same.map(|(character, _)| character.len_utf8()).sum()
}

/// Returns true if a part of a text is a whole word.
fn is_whole_word(text: &str, start: usize, end: usize) -> bool {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    !text[..start].ends_with(in_word) && !text[end..].starts_with(in_word)
}

/// Returns true if a text may have been cut at `end`, possibly within a character.
fn is_cut(text: &str, end: usize) -> bool {
    let rest = text[end..].trim_start_matches('\u{fffd}');
    if CUT_MARKS.iter().any(|mark| rest.starts_with(mark)) {
        return true;
    }
    let Some(far) = end.checked_sub(SHORTEST_CUT) else { return false };
    // A quoted text has another quotation mark at its beginning.
    let is_quoted = || text[..text.floor_char_boundary(far)].contains('\'');
    rest.is_empty() || rest.starts_with('\'') && is_quoted()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_replaced_in_a_text() {
        let secrets = Secrets::new(["pw", "hunter2", "hunter2-too", ""].map(Secret::new));
        for (text, shown) in [
            ("near 'hunter2' at 1", "near '(secret)' at 1"),
            ("hunter2-too, hunter2hunter2", "(secret), (secret)(secret)"),
            ("pw of pwd is 'pw'", "(secret) of pwd is '(secret)'"),
            ("nothing", "nothing"),
        ] {
            assert_eq!(secrets.hide(text), shown);
        }
        assert!(Secrets::default().is_empty() && !secrets.is_empty());
    }

    /// Servers cut texts that they quote, and records cut messages of servers. The beginning of a
    /// secret that is left by a cut is hidden too.
    #[test]
    fn beginning_of_a_secret_is_hidden_where_a_text_was_cut() {
        let secret = "s3cr3t-Pa55-of-ann";
        let secrets = Secrets::new([Secret::new(secret)]);
        let far = "x".repeat(SHORTEST_CUT);
        for length in SHORTEST_DISTINCT..secret.len() {
            let part = &secret[..length];
            for (text, shown) in [
                (format!("row (1, {part}..., 2)"), "row (1, (secret)..., 2)".to_owned()),
                (format!("got {part}…"), "got (secret)…".to_owned()),
                (format!("got {part}\u{fffd}…"), "got (secret)\u{fffd}…".to_owned()),
                (format!("near '{far}{part}' at"), format!("near '{far}(secret)' at")),
                (format!("{far}{part}"), format!("{far}(secret)")),
            ] {
                assert_eq!(secrets.hide(&text), shown);
            }
            for text in [
                format!("user '{part}'@'h'"),
                format!("MySQL at {far} refuses user '{part}'@'h'"),
                format!("user \"{part}\" of {far}"),
                format!("{part} {far}"),
                part.to_owned(),
                format!("row (1, {}..., 2)", &secret[..SHORTEST_DISTINCT - 1]),
            ] {
                assert_eq!(secrets.hide(&text), text);
            }
        }
        // The beginning of the secret repeats itself, and so does the text.
        let secrets = Secrets::new([Secret::new("ababababab!")]);
        assert_eq!(secrets.hide("abababababab!"), "ab(secret)");
    }

    #[test]
    fn secret_is_hidden_in_a_text_without_its_control_characters() {
        let secrets = Secrets::new([Secret::new("hun\tter\u{1b}2")]);
        assert_eq!(secrets.hide("got 'hun\tter\u{1b}2'"), "got '(secret)'");
        assert_eq!(secrets.hide(&printable("got 'hun\tter\u{1b}2'")), "got '(secret)'");
        let indented = secrets.with_form(|text| text.replace('\t', "\n  "));
        assert_eq!(indented.hide("got 'hun\n  ter\u{1b}2'"), "got '(secret)'");
    }

    #[test]
    fn short_secret_is_not_distinct_from_other_words() {
        let secrets = Secrets::new(["on", "postgre", "über-alles"].map(Secret::new)).distinct();
        assert_eq!(secrets.hide("on postgre über-alles"), "on postgre (secret)");
    }

    #[test]
    fn password_of_a_login_is_hidden_as_sent_and_as_a_url_writes_it() {
        let hide = |password: &str, text: &str| {
            Secrets::of_login([&Secret::new(password)], &["ann", "shop"]).hide(text)
        };
        assert_eq!(hide("hun@ter2", "got 'hun@ter2'"), "got '(secret)'");
        let url = "postgres://ann:hun%40te%2Fr2@h";
        assert_eq!(hide("hun@te/r2", url), "postgres://ann:(secret)@h");
        // A secret of one letter is hidden only as a whole word.
        assert_eq!(hide("a", "a table has a row"), "(secret) table has (secret) row");
        // `user "(secret)"` would show that the password is the name of the user.
        assert_eq!(hide("ann", "user \"ann\" of shop"), "user \"ann\" of shop");
    }

    #[test]
    fn value_after_a_secret_word_or_option_is_a_secret() {
        for text in [
            "alter role ann PASSWORD '",
            "create user u identified by ",
            "PGPASSWORD=",
            "DB_PASS=",
            "DB_PW=",
            "x --pw ",
            "GH_PAT=",
            "CI_JOB_JWT=",
            "loader --dsn ",
            "curl -H \"Authorization: Bearer ",
            "curl -H 'Authorization: Basic ",
            "curl -H X-Api-Key:",
            "curl -d '{\"token\": \"",
            "AWS_SECRET_ACCESS_KEY=",
            "x --client-secret ",
            "mysql -p",
            "mysql -u ann '-p",
            "mysql -p'",
            "go-tpc -p ",
            "curl -u ann:",
            "curl --user=ann:",
            "curl -uann:",
            "sqlcmd -S db1 -P ",
            "redis-cli -a ",
            "set password for 'ann'@'%' = '",
            "alter user ann IDENTIFIED WITH caching_sha2_password BY '",
            "create user ann identified via ed25519 using '",
            "call set_login(password => ",
            "login(:password => '",
        ] {
            assert!(follows_secret_word(text, "hunter2"), "{text}");
        }
        for text in [
            "",
            "select ",
            "where a = ",
            "max_tokens = ",
            "path = ",
            "where format = ",
            "psql -h ",
            "psql -P ",
            "tar -a ",
            "x -u ",
            "a:",
            "set password for ",
            "identified with ",
            "where token > ",
            "where token >= '",
            "cat token > ",
        ] {
            assert!(!follows_secret_word(text, "hunter2"), "{text}");
        }
        for (text, is_secret) in
            [("psql -p ", false), ("psql -p", false), ("mysql -p", true), ("mysql -P", false)]
        {
            assert_eq!(follows_secret_word(text, "3306"), is_secret, "{text}");
        }
        let far = format!("{}password={}", "é".repeat(1_000), " ".repeat(1_000));
        assert!(follows_secret_word(&far, "hunter2"));
        assert!(names_secret("--mysql-password") && names_secret("X-API-KEY"));
        assert!(["DB_PW", "--pat", "x-jwt", "--dsn"].iter().all(|name| names_secret(name)));
        let harmless = ["--threads", "PATH", "PATTERN", "PWM", "dsname"];
        assert!(!harmless.iter().any(|name| names_secret(name)));
        assert_eq!(password_option("redis-cli -h h -a pw", "-a"), Some("-a"));
        assert_eq!(password_option("tar -a x", "-a"), None);
    }

    #[test]
    fn value_in_a_literal_with_a_prefix_is_a_secret() {
        for text in [
            "alter role app password E'",
            "alter role app password\tu&'",
            "alter role app password $p$",
            "alter role app password $$",
            "alter user app identified by N'",
            "set password = _utf8mb4'",
            "set password for app = _utf8mb4 \"",
            "call set_login(password=>e'",
            "'_password'",
        ] {
            assert!(follows_secret_word(text, "hunter2"), "{text}");
        }
        for text in [
            "where name = E'",
            "where name = $q$",
            "where password in (E'",
            "select passworde'",
            "select password$q'",
            "select password e '",
            "set password_e'",
            "for US$",
        ] {
            assert!(!follows_secret_word(text, "hunter2"), "{text}");
        }
    }

    #[test]
    fn old_password_after_replace_is_a_secret() {
        for text in [
            "alter user ann identified by 'a b' REPLACE '",
            "alter user ann identified with caching_sha2_password by 'a'replace '",
            "SET PASSWORD = 'a' replace '",
            "set password='a' replace '",
            "set password for 'ann'@'%' to random replace '",
        ] {
            assert!(follows_secret_word(text, "hunter2"), "{text}");
        }
        for text in [
            "create or replace ",
            "replace ",
            "select replace('",
            "update t set a = replace('",
            "alter user ann identified by 'a' comment 'do_not_replace ",
        ] {
            assert!(!follows_secret_word(text, "hunter2"), "{text}");
        }
    }

    /// Invariant 8: a secret has a type that cannot be printed or serialized.
    #[test]
    fn invariant_8_a_secret_shows_nothing_when_debugged() {
        let shown = format!("{:?}", Secret::new("hunter2"));
        assert!(!shown.contains("hunter2"), "{shown}");
        assert_eq!(Secret::new("hunter2").expose(), "hunter2");
    }
}
