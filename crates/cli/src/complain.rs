//! Error messages and warnings on stderr.

use std::error::Error;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use base::{
    Diagnostic, Secrets, SourceText, is_terminal_control, without_any_password, without_passwords,
};
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::args::Args;
use crate::exit::Exit;
use crate::stderr;

/// An error message or warning, ready to print: terminal control characters are replaced.
#[derive(Debug)]
pub(crate) struct Complaint {
    text: String,
    /// The exit code of a program that ends with this message.
    exit: Exit,
}

impl Complaint {
    /// Creates an error of one sentence.
    pub(crate) fn new(sentence: impl std::fmt::Display) -> Complaint {
        Complaint::of_text(stderr::message(&format!("error: {sentence}")))
    }

    fn of_text(text: String) -> Complaint {
        Complaint { text, exit: Exit::Usage }
    }

    /// Changes the exit code, which is [`Exit::Usage`] otherwise.
    pub(crate) fn with_exit(self, exit: Exit) -> Complaint {
        Complaint { exit, ..self }
    }

    /// Adds a remedy.
    pub(crate) fn help(self, remedy: impl std::fmt::Display) -> Complaint {
        let remedy = stderr::message(&remedy.to_string());
        Complaint { text: format!("{}\n  = help: {remedy}", self.text), ..self }
    }

    /// Removes secrets, which a database may have repeated.
    pub(crate) fn without_secrets(self, secrets: &Secrets) -> Complaint {
        let as_printed = secrets.clone().with_form(stderr::message);
        Complaint { text: as_printed.hide(&self.text), ..self }
    }

    /// Replaces the path of a temporary file, which was read or written for a file of the user, by
    /// the name of the user's file.
    pub(crate) fn replacing_path(self, temporary: &Path, name: &Path) -> Complaint {
        let [temporary, name] =
            [temporary, name].map(|path| stderr::message(&path.display().to_string()));
        Complaint { text: self.text.replace(&temporary, &name), ..self }
    }

    /// Creates the error about a thread that the operating system does not start; `purpose` says
    /// what the thread is for.
    pub(crate) fn of_thread(purpose: &str, error: &io::Error) -> Complaint {
        Complaint::new(format!("cannot start a thread for {purpose}: {error}"))
            .help("end other programs, or allow more threads: `ulimit -u` shows the limit")
    }

    /// Creates a warning of one sentence.
    pub(crate) fn warning(sentence: impl std::fmt::Display) -> Complaint {
        Complaint::of_text(stderr::message(&format!("warning: {sentence}")))
    }

    /// Creates an error from an error value and its causes, without repetitions.
    pub(crate) fn of(error: &dyn Error) -> Complaint {
        let mut text = format!("error: {error}");
        let mut cause = error.source();
        while let Some(error) = cause {
            let words = error.to_string();
            if !text.ends_with(&words) {
                text.push_str(": ");
                text.push_str(&words);
            }
            cause = error.source();
        }
        Complaint::of_text(stderr::message(&text))
    }

    /// Creates a message from the diagnostics of a text, which may be errors or warnings.
    pub(crate) fn about(source: &SourceText, diagnostics: &[Diagnostic]) -> Complaint {
        let styled = is_styled(stderr::is_terminal());
        let rendered: Vec<String> =
            diagnostics.iter().map(|diagnostic| diagnostic.render(source, styled)).collect();
        Complaint::of_text(without_passwords(&rendered.join("\n\n")))
    }

    /// Returns the sentence without the remedy.
    pub(crate) fn sentence(&self) -> &str {
        let text = self.text.strip_prefix("error: ").unwrap_or(&self.text);
        text.split_once("\n  = help: ").map_or(text, |(sentence, _)| sentence)
    }

    /// Returns the exit code of a program that ends with this message.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    pub(crate) fn print(&self) {
        stderr::write(&format!("{}\n", self.as_printed()));
    }

    /// Returns the text without the passwords of settings. They are replaced last, after
    /// [`Complaint::without_secrets`]: a secret may contain a character that ends a setting, and
    /// the rest of the secret would stay in the text.
    fn as_printed(&self) -> String {
        without_any_password(&self.text)
    }
}

/// Returns true if a stream is to be coloured: it is a terminal, and `NO_COLOR` is unset or empty.
pub(crate) fn is_styled(is_terminal: bool) -> bool {
    is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Prints a mistake in the arguments, or the requested help. Passwords are removed, as a quoted
/// argument may be a URL.
pub(crate) fn print_usage(mut error: clap::Error) -> ExitCode {
    point_to_other_commands(&mut error);
    let error = &error;
    let is_printable = std::env::args_os()
        .all(|argument| !argument.to_string_lossy().contains(is_terminal_control));
    // A closed stream is not an error.
    if error.use_stderr() {
        let text = match is_printable {
            true => render(error, is_styled(stderr::is_terminal())),
            false => printable_usage(error),
        };
        stderr::write(&without_any_password(&text));
        return Exit::Usage.into();
    }
    let is_terminal = std::io::stdout().is_terminal();
    let _ = write!(std::io::stdout(), "{}", render(error, is_styled(is_terminal)));
    Exit::Success.into()
}

/// Returns the text of an error that may quote an argument with terminal control characters.
///
/// Clap does not escape the argument. The text therefore has no colours, and its lines are
/// indented, because one of them may come from the argument.
fn printable_usage(error: &clap::Error) -> String {
    format!("{}\n", stderr::message(render(error, false).trim_end()))
}

/// Points out the commands that have the option which this command lacks. Clap's own suggestion, to
/// pass the option as a file name, helps less. A hidden option that clap suggests is removed.
fn point_to_other_commands(error: &mut clap::Error) {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return };
    if error.kind() != ErrorKind::UnknownArgument || !option.starts_with('-') {
        return;
    }
    let owners = commands_with(option, Visibility::Shown);
    let is_hidden = match error.get(ContextKind::SuggestedArg) {
        Some(ContextValue::String(near)) => !commands_with(near, Visibility::Hidden).is_empty(),
        _ => false,
    };
    if is_hidden {
        error.remove(ContextKind::SuggestedArg);
    }
    error.remove(ContextKind::Suggested);
    if !owners.is_empty() {
        let tip = format!("it is an option of {}", owners.join(" and of "));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
}

/// Visibility of an option in the help of its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Visibility {
    Shown,
    Hidden,
}

/// Returns the commands that have an option of this visibility, as `assay NAME` in backquotes.
fn commands_with(option: &str, visibility: Visibility) -> Vec<String> {
    let name = option.trim_start_matches('-');
    let is_hidden = visibility == Visibility::Hidden;
    let has_it = |command: &&clap::Command| {
        let mut named = command.get_arguments().filter(|it| it.get_long() == Some(name));
        named.any(|argument| argument.is_hide_set() == is_hidden)
    };
    let program = Args::command();
    let owners = program.get_subcommands().filter(has_it);
    owners.map(|command| format!("`assay {}`", command.get_name())).collect()
}

fn render(error: &clap::Error, is_styled: bool) -> String {
    let text = error.render();
    if is_styled { text.ansi().to_string() } else { text.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An error and its cause.
    #[derive(Debug)]
    struct Chain(&'static str, Option<Box<Chain>>);

    impl std::fmt::Display for Chain {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Chain {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.1.as_deref().map(|cause| cause as _)
        }
    }

    fn chain(words: &[&'static str]) -> Option<Box<Chain>> {
        let (first, rest) = words.split_first()?;
        Some(Box::new(Chain(first, chain(rest))))
    }

    #[test]
    fn argument_that_clap_quotes_cannot_act_on_the_terminal() {
        use clap::Parser;

        let name = "a\x1b]0;owned\x07\x1b[2J\u{9b}31m\u{202e}\r\nerror: forged";
        for arguments in [
            &["assay", "run", "w.ini", name][..],
            &["assay", name],
            &["assay", "run", "w.ini", "--duration", name],
            &["assay", "run", "w.ini", "--seed", name],
        ] {
            let error = Args::try_parse_from(arguments).unwrap_err();
            let text = printable_usage(&error);
            assert!(!text.contains(|c| c != '\n' && is_terminal_control(c)), "{text:?}");
            assert!(!text.lines().skip(1).any(|line| line.starts_with("error:")), "{text}");
        }
    }

    #[test]
    fn secret_is_removed_with_its_control_characters() {
        let secret = "hun\tter\u{1b}2\nof ann";
        let secrets = Secrets::new([base::Secret::new(secret)]);
        let sentence = format!("the server got '{secret}'");
        let complaint = Complaint::new(&sentence).help(&sentence).without_secrets(&secrets);
        let hidden = "the server got '(secret)'";
        assert_eq!(complaint.text, format!("error: {hidden}\n  = help: {hidden}"));
        let source = SourceText { name: "w.ini".to_owned(), text: "query = x\n".to_owned() };
        let diagnostic = Diagnostic::error(base::Span::new(0, 5), &sentence).label(&sentence);
        let complaint = Complaint::about(&source, &[diagnostic]).without_secrets(&secrets);
        assert_eq!(complaint.text.matches(hidden).count(), 2, "{}", complaint.text);
        assert!(!complaint.text.contains("hun"), "{}", complaint.text);
    }

    #[test]
    fn secret_in_a_setting_is_removed_as_a_whole() {
        let secrets = Secrets::new([base::Secret::new("hun, ter2")]);
        let complaint = Complaint::new("no `h?password=hun, ter2`").without_secrets(&secrets);
        assert_eq!(complaint.as_printed(), "error: no `h?password=(secret)`");
        let complaint = Complaint::new("no `h?password=hunter3`").without_secrets(&secrets);
        assert_eq!(complaint.as_printed(), "error: no `h?password=*******`");
    }

    #[test]
    fn cause_is_printed_once() {
        for (words, expected) in [
            (&["no", "why"][..], "error: no: why"),
            (&["no: why", "why"], "error: no: why"),
            (&["no", "disk is full", "disk is full"], "error: no: disk is full"),
        ] {
            assert_eq!(Complaint::of(&*chain(words).unwrap()).text, expected);
        }
    }
}
