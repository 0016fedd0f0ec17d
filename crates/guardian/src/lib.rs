//! Guardians: processes that clean up after this one, however it ends.
//!
//! A [`Guardian`] is a small shell that waits for the end of its input, which is closed when this
//! process ends in any way, `kill -9` included. It then ends the processes registered with it and
//! removes its folder. [`TemporaryFolder`] is a folder with a guardian.
//!
//! The invariant: processes and files that are registered with a guardian do not outlive the
//! process that started the guardian, unless the guardian is killed too.

mod folder;

pub use folder::TemporaryFolder;

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

/// The script of the shell.
///
/// Its arguments are a folder, a timeout in seconds, and the start of the path of a folder whose
/// number it may receive later. It keeps a list of process ids; a negative number is a process
/// group. At the end of its input it sends each process its signal, waits until the processes have
/// ended or the timeout has passed, and kills those that remain. It reads a clock instead of
/// counting iterations of its loop, because an iteration takes long on a busy machine.
///
/// A killed PostgreSQL server leaves its shared memory segment behind. The seventh line of its
/// `postmaster.pid` has the identifier of the segment. A zombie process counts as ended, because
/// its new parent may reap it late.
const SCRIPT: &str = r#"
trap '' HUP INT QUIT TERM
folder=$1 patience=$2 stem=$3 live=
runs() {
    case $1 in
    -*) has_members "${1#-}" ;;
    *) read -r stat <"/proc/$1/stat" && case ${stat##*") "} in Z*) false ;; esac ;;
    esac
}
has_members() {
    group=$1
    for file in /proc/[0-9]*/stat; do
        read -r stat <"$file" || continue
        set -- ${stat##*") "}
        [ "$3" != "$group" ] || [ "$1" = Z ] || return 0
    done
    return 1
}
# Starts the time within which `has_time` is true.
begin() { read -r now idle </proc/uptime && end=$((${now%.*} + patience)); }
has_time() { read -r now idle </proc/uptime && [ "${now%.*}" -lt "$end" ]; }
while read -r word pid signal; do
    case $word in
    folder) folder=${pid:+$stem$pid} ;;
    started) live="$live $pid:$signal" ;;
    ended)
        others=
        for one in $live; do [ "${one%:*}" = "$pid" ] || others="$others $one"; done
        live=$others
        ;;
    esac
done
for one in $live; do
    kill -s CONT -- "${one%:*}"
    kill -s "${one#*:}" -- "${one%:*}"
done
begin
for one in $live; do
    while runs "${one%:*}" && has_time; do sleep 0.05; done
    runs "${one%:*}" && kill -s KILL -- "${one%:*}"
done
[ -n "$folder" ] || exit 0
for file in "$folder"/*/postmaster.pid; do
    [ -f "$file" ] && set -- $(sed -n 7p "$file") && [ -n "$2" ] && ipcrm -m "$2"
done
begin
while ! rm -rf "$folder" && has_time; do sleep 0.05; done
"#;

/// Time for registered processes to end, and for a folder to be removed, in seconds.
const EXIT_TIMEOUT_S: u32 = 5;

/// The search path for the programs that the script needs.
const SEARCH_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// A process that ends the registered processes and removes a folder when this process has ended.
///
/// Dropping it ends those processes and removes the folder at once, and waits until this is done.
#[derive(Debug)]
pub struct Guardian {
    shell: Child,
    /// The input of the shell, open while this process lives.
    input: Option<ChildStdin>,
}

impl Guardian {
    /// Starts the guardian of processes and of a folder, which need not exist yet.
    ///
    /// # Errors
    /// There is no `/bin/sh`, or no process can be started.
    pub fn of_folder(folder: &Path) -> io::Result<Guardian> {
        Guardian::start([folder, Path::new("")], EXIT_TIMEOUT_S, SEARCH_PATH)
    }

    /// Starts the guardian of processes and of a folder that [`Guardian::guard_folder`] names
    /// later; the path of the folder begins with `stem`.
    ///
    /// # Errors
    /// As for [`Guardian::of_folder`].
    pub(crate) fn of_numbered(stem: &Path) -> io::Result<Guardian> {
        Guardian::start([Path::new(""), stem], EXIT_TIMEOUT_S, SEARCH_PATH)
    }

    /// Starts the shell with a folder and the beginning of a path.
    fn start([folder, stem]: [&Path; 2], exit_timeout_s: u32, path: &str) -> io::Result<Guardian> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT, "assay-guardian"]).arg(folder).arg(exit_timeout_s.to_string());
        command.arg(stem).current_dir("/").env_clear().env("PATH", path).env("LC_ALL", "C");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // The guardian must survive a Ctrl-C, which is for the processes it watches.
        let mut shell = command.process_group(0).spawn()?;
        let input = shell.stdin.take();
        Ok(Guardian { shell, input })
    }

    /// Starts a guardian of processes alone.
    ///
    /// # Errors
    /// As for [`Guardian::of_folder`].
    pub fn of_processes() -> io::Result<Guardian> {
        Guardian::of_folder(Path::new(""))
    }

    /// Sets the folder to remove: the folder whose path ends with this number, or no folder for
    /// `None`.
    ///
    /// The shell receives the command even if this process is killed immediately afterwards: the
    /// command is already in the pipe.
    pub(crate) fn guard_folder(&mut self, number: Option<u32>) {
        self.send(format!("folder {}\n", number.map(|it| it.to_string()).unwrap_or_default()));
    }

    /// Registers a process that is to be ended by a signal, such as `TERM`.
    pub fn register_process(&mut self, pid: u32, signal: &str) {
        self.send(format!("started {pid} {signal}\n"));
    }

    /// Unregisters a process that has ended and has been reaped.
    pub fn unregister_process(&mut self, pid: u32) {
        self.send(format!("ended {pid}\n"));
    }

    /// Registers a process group that is to be ended by SIGTERM.
    pub fn register_group(&mut self, leader: u32) {
        self.send(format!("started -{leader} TERM\n"));
    }

    /// Unregisters a process group that has ended, or that no longer needs a guardian.
    pub fn unregister_group(&mut self, leader: u32) {
        self.send(format!("ended -{leader}\n"));
    }

    fn send(&mut self, text: String) {
        // Fails if the guardian was killed.
        if let Some(input) = &mut self.input {
            let _ = input.write_all(text.as_bytes());
        }
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.shell.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{BufRead, BufReader, Read};
    use std::os::unix::fs::PermissionsExt;
    use std::time::{Duration, Instant};

    use super::*;

    /// If only the leader were ended, a `sleep` would outlive it and hold the output open.
    #[test]
    fn group_ends_with_its_guardian() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "sleep 1000 & sleep 1000"]).process_group(0).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a shell");
        let mut guardian = Guardian::of_processes().expect("a guardian");
        guardian.register_group(child.id());
        drop(guardian);
        let mut output = child.stdout.take().expect("a pipe");
        assert_eq!(output.read_to_end(&mut Vec::new()).expect("its end"), 0);
        assert!(!child.wait().expect("a status").success());
    }

    /// The leader, a shell, ends at once. The other process of the group takes longer, and writes
    /// output before it ends.
    #[test]
    fn group_whose_leader_has_gone_has_time_to_end() {
        let mut command = Command::new("/bin/sh");
        let other = "trap 'sleep 0.3; echo last words; exit' TERM; echo ready; \
                     while :; do sleep 0.05; done";
        command.args(["-c", &format!("sh -c \"{other}\" & sleep 1000")]);
        command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("a shell");
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut words = String::new();
        output.read_line(&mut words).expect("a line");
        let mut guardian = Guardian::of_processes().expect("a guardian");
        guardian.register_group(child.id());
        drop(guardian);
        child.wait().expect("a status");
        output.read_to_string(&mut words).expect("its end");
        assert_eq!(words, "ready\nlast words\n");
    }

    /// Each iteration of the script's loop takes a second, as on a busy machine.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "another process is watched")]
    fn exit_timeout_counts_seconds_not_loop_turns() {
        let folder = TemporaryFolder::new(&std::env::temp_dir(), "assay-slow").expect("a folder");
        let slow = folder.path().join("sleep");
        fs::write(&slow, "#!/bin/sh\nexec /bin/sleep 1\n").expect("a program");
        fs::set_permissions(&slow, fs::Permissions::from_mode(0o700)).expect("permissions");
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "trap '' TERM; echo ready; while :; do /bin/sleep 1000; done"]);
        let mut child = command.process_group(0).stdout(Stdio::piped()).spawn().expect("a shell");
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        output.read_line(&mut String::new()).expect("a line");
        let path = format!("{}:{SEARCH_PATH}", folder.path().display());
        let mut guardian = Guardian::start([Path::new(""); 2], 1, &path).expect("a guardian");
        guardian.register_group(child.id());
        let began = Instant::now();
        drop(guardian);
        assert!(!child.wait().expect("a status").success());
        assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    }

    #[test]
    fn process_that_has_ended_is_left_alone() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "read -r line; exit 7"]).stdin(Stdio::piped());
        let mut child = command.spawn().expect("a shell");
        let mut guardian = Guardian::of_processes().expect("a guardian");
        guardian.register_process(child.id(), "KILL");
        guardian.unregister_process(child.id());
        drop(guardian);
        drop(child.stdin.take());
        assert_eq!(child.wait().expect("a status").code(), Some(7));
    }
}
