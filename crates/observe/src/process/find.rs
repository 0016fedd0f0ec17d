//! Identification of the database's processes: those that hold the socket on which the database
//! listens.
//!
//! `/proc/net/tcp`, `/proc/net/tcp6` and `/proc/net/unix` (`proc_pid_net(5)`) list the inodes of
//! listening sockets, and the links in `/proc/*/fd` show which process holds them. Only the owner
//! of a process and root can read those links. For other users, the server is identified by the
//! owner of the socket and the name of the process, if only one server matches.

use std::collections::BTreeSet;
use std::path::Path;

use record::component_name::DATABASE_PROGRAMS;

use super::files::Files;
use super::stat::Stat;
use crate::scope::{ServerLocation, ServerOption};

/// Numbers of bytes of `/proc/net/tcp` that are read from the beginning, in this order, until all
/// listening sockets are found. A line has 150 bytes.
const READ_LENGTHS: [u64; 3] = [8 << 10, 64 << 10, 1 << 20];

/// Maximum number of Unix sockets that are searched for the listening ones.
const MOST_SOCKETS: usize = 65_536;

/// Maximum number of open files of all processes together that are read.
const MOST_FILES: usize = 262_144;

/// Maximum number of ancestors that are searched for the process that opened a socket.
const MOST_ANCESTORS: usize = 16;

/// A listening socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Listener {
    inode: u64,
    /// User id of the owner of the socket, if it is known.
    user: Option<u32>,
}

/// Finds the processes at a location; `None` if the location names no process of this machine.
/// `option` is the user's means to name the processes, for the remedy.
///
/// # Errors
/// The processes cannot be identified; the error is the reason, with a remedy if there is one.
pub(super) fn find(
    files: &mut Files<'_>,
    place: &ServerLocation,
    option: ServerOption,
) -> Option<Result<Vec<u32>, String>> {
    match place {
        ServerLocation::Port(port) => {
            let listeners = tcp_listeners(files, *port);
            let found = find_listening_processes(files, &listeners);
            Some(found.map_err(|reason| reason.text(&format!("port {port}"), option)))
        }
        ServerLocation::Socket(path) => {
            let listeners = unix_listeners(files, path);
            let found = find_listening_processes(files, &listeners);
            Some(found.map_err(|reason| reason.text(&path.display().to_string(), option)))
        }
        ServerLocation::Process(number) => {
            Some(match files.root.exists(&format!("proc/{number}/stat")) {
                true => Ok(vec![*number]),
                false => Err(format!("there is no process {number}")),
            })
        }
        ServerLocation::Elsewhere(_) | ServerLocation::Threads(_) => None,
    }
}

/// Returns true if a socket listens at a location, even if its process is not visible.
pub(super) fn has_listener(files: &Files<'_>, place: &ServerLocation) -> bool {
    match place {
        ServerLocation::Port(port) => !tcp_listeners(files, *port).is_empty(),
        ServerLocation::Socket(path) => !unix_listeners(files, path).is_empty(),
        ServerLocation::Process(_) | ServerLocation::Elsewhere(_) | ServerLocation::Threads(_) => {
            false
        }
    }
}

/// The reason why the process that listens at a location is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NotFound {
    /// No socket listens there.
    NoListener,
    /// The process that holds the socket is not visible.
    Hidden,
    /// This many visible processes could hold the socket.
    Ambiguous(usize),
}

impl NotFound {
    /// Returns the reason, with a remedy if there is one. `place` is the location in words.
    fn text(self, place: &str, option: ServerOption) -> String {
        let or_name_it = match option {
            ServerOption::Key => ", or give its number as `pid` in [observe]",
            ServerOption::Argument => ", or give its number with `--server`",
            ServerOption::None => "",
        };
        match self {
            NotFound::NoListener => {
                format!("no visible process on this machine listens on {place}")
            }
            NotFound::Hidden => format!(
                "the process that listens on {place} is not visible: run Assay as its user or as \
                 root{or_name_it}"
            ),
            NotFound::Ambiguous(count) => format!(
                "{count} processes could be the one that listens on {place}: run Assay as their \
                 user or as root{or_name_it}"
            ),
        }
    }
}

fn find_listening_processes(
    files: &mut Files<'_>,
    listeners: &[Listener],
) -> Result<Vec<u32>, NotFound> {
    if listeners.is_empty() {
        return Err(NotFound::NoListener);
    }
    let holders = find_socket_holders(files, listeners);
    let holders = without_children(files, holders);
    if !holders.is_empty() {
        return Ok(holders);
    }
    let found = find_by_user(files, listeners);
    let found = without_children(files, found);
    match found.len() {
        1 => Ok(found),
        0 => Err(NotFound::Hidden),
        several => Err(NotFound::Ambiguous(several)),
    }
}

/// Finds the sockets that listen on a port. Listening sockets come first in the files, and the
/// kernel takes long to write the rest.
fn tcp_listeners(files: &Files<'_>, port: u16) -> Vec<Listener> {
    let mut found = Vec::new();
    for file in ["proc/net/tcp", "proc/net/tcp6"] {
        for length in READ_LENGTHS {
            let text = files.root.text_prefix(file, length).unwrap_or_default();
            let is_whole = (text.len() as u64) < length;
            let lines = text.lines().skip(1).filter(|line| !line.is_empty());
            let sockets: Vec<_> = lines.clone().map_while(tcp_listener).collect();
            // The last line may be incomplete. If all lines before it are listening sockets, more
            // of these may follow.
            if is_whole || sockets.len() + 1 < lines.count() {
                found.extend(sockets.into_iter().filter(|(at, _)| *at == port).map(|(_, it)| it));
                break;
            }
        }
    }
    found
}

/// Parses a line such as `0: 0100007F:1538 00000000:0000 0A 0:0 0:0 0 UID 0 INODE …`. `None` if the
/// socket does not listen; the sockets after it in the file do not listen either.
fn tcp_listener(line: &str) -> Option<(u16, Listener)> {
    let mut words = line.split_ascii_whitespace().skip(1);
    let (_, port) = words.next()?.rsplit_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    (words.nth(1)? == "0A").then_some(())?;
    let user = words.nth(3)?.parse().ok()?;
    let inode = words.nth(1)?.parse().ok()?;
    Some((port, Listener { inode, user: Some(user) }))
}

/// Finds the sockets that listen at a path. The kernel shows a path in the form in which the server
/// gave it.
fn unix_listeners(files: &Files<'_>, path: &Path) -> Vec<Listener> {
    let text = files.root.text("proc/net/unix").unwrap_or_default();
    let lines = text.lines().skip(1).take(MOST_SOCKETS).filter_map(unix_listener);
    let is_match = |(at, _): &(&str, u64)| is_same_path(Path::new(at), path);
    lines.filter(is_match).map(|(_, inode)| Listener { inode, user: None }).collect()
}

/// Parses a line such as `ADDRESS: 00000002 00000000 00010000 0001 01 INODE PATH`; `None` if the
/// socket does not listen.
fn unix_listener(line: &str) -> Option<(&str, u64)> {
    /// Flag of a listening socket, `SO_ACCEPTCON`.
    const LISTENS: u32 = 0x1_0000;
    let mut words = line.splitn(8, ' ').skip(3);
    let flags = u32::from_str_radix(words.next()?, 16).ok()?;
    let rest = line.splitn(7, ' ').nth(6)?.trim_start();
    let (inode, path) = rest.split_once(' ')?;
    (flags & LISTENS != 0).then_some((path, inode.parse().ok()?))
}

/// Returns true if two paths are equal, or have the same file name and lead to the same file,
/// perhaps through a link to a folder, such as `/var/run`.
pub(crate) fn is_same_path(a: &Path, b: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    a == b || (a.file_name() == b.file_name() && real(a).is_some() && real(a) == real(b))
}

/// Finds the processes that hold these sockets. Processes with the name of a database program are
/// searched first, in the order of their ids, which is mostly the order in which they started.
/// Other processes are searched only if the holder of a socket has not been found.
fn find_socket_holders(files: &mut Files<'_>, listeners: &[Listener]) -> Vec<u32> {
    let mut wanted: BTreeSet<String> =
        listeners.iter().map(|listener| format!("socket:[{}]", listener.inode)).collect();
    let is_program = |files: &mut Files<'_>, number: u32| {
        let name = files.read(format_args!("proc/{number}/comm"));
        name.is_some_and(|name| DATABASE_PROGRAMS.contains(&name.trim()))
    };
    let all = files.root.numbers("proc");
    let (programs, others): (Vec<u32>, Vec<u32>) =
        all.into_iter().partition(|number| is_program(files, *number));
    let mut files_left = MOST_FILES;
    let mut found = Vec::new();
    for number in programs.into_iter().chain(others) {
        if wanted.is_empty() || files_left == 0 {
            break;
        }
        let held = held_sockets(files, number, &wanted, &mut files_left);
        if let Some(one) = held.first() {
            found.push(oldest_holder(files, number, one, &mut files_left));
            wanted.retain(|socket| !held.contains(socket));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns those of the wanted sockets that a process holds.
fn held_sockets(
    files: &Files<'_>,
    number: u32,
    wanted: &BTreeSet<String>,
    files_left: &mut usize,
) -> Vec<String> {
    let folder = format!("proc/{number}/fd");
    let open = files.root.numbers(&folder);
    *files_left = files_left.saturating_sub(open.len());
    let links = open.iter().filter_map(|fd| files.root.link(&format!("{folder}/{fd}")));
    links.filter(|link| wanted.contains(link)).collect()
}

/// Returns the oldest process that holds a socket, among the process with this number and its
/// ancestors. A child may have inherited the socket from its parent.
fn oldest_holder(
    files: &mut Files<'_>,
    mut number: u32,
    socket: &str,
    files_left: &mut usize,
) -> u32 {
    let wanted = BTreeSet::from([socket.to_owned()]);
    for _ in 0..MOST_ANCESTORS {
        let line = files.read(format_args!("proc/{number}/stat"));
        let Some(stat) = line.and_then(|line| Stat::parse(&line)) else { break };
        // Process 1 holds the sockets of services that it starts on demand, so it is not the
        // server.
        if stat.parent <= 1 || held_sockets(files, stat.parent, &wanted, files_left).is_empty() {
            break;
        }
        number = stat.parent;
    }
    number
}

/// Finds the processes that have the name of a database program and run as the owner of one of
/// these sockets, or as any user if the owners are unknown.
fn find_by_user(files: &mut Files<'_>, listeners: &[Listener]) -> Vec<u32> {
    let users: Vec<u32> = listeners.iter().filter_map(|listener| listener.user).collect();
    let mut found = Vec::new();
    for number in files.root.numbers("proc") {
        let Some(status) = files.read(format_args!("proc/{number}/status")) else { continue };
        let word = |name: &str, place: usize| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_ascii_whitespace().nth(place)
        };
        // The second number in the line is the effective user id.
        let user = word("Uid:", 1).and_then(|user| user.parse().ok());
        let is_program = word("Name:", 0).is_some_and(|name| DATABASE_PROGRAMS.contains(&name));
        if is_program && user.is_some_and(|user| users.is_empty() || users.contains(&user)) {
            found.push(number);
        }
    }
    found
}

/// Removes the processes whose parent is in the list.
fn without_children(files: &mut Files<'_>, numbers: Vec<u32>) -> Vec<u32> {
    let all: BTreeSet<u32> = numbers.iter().copied().collect();
    let mut is_child = |number: u32| {
        let line = files.read(format_args!("proc/{number}/stat"));
        let parent = line.and_then(|line| Stat::parse(&line)).map(|stat| stat.parent);
        parent.is_some_and(|parent| all.contains(&parent))
    };
    numbers.into_iter().filter(|number| !is_child(*number)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::stat::tests::line;
    use super::*;
    use crate::environment::tests::TestRoot;

    const TCP: &str = "sl local_address rem_address st tx_queue rx_queue uid timeout inode\n\
         0: 0100007F:1538 00000000:0000 0A 00000000:00000000 00:00000000 00000000   101  0 77 1\n\
         1: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0  0 78 1\n\
         2: 0100007F:1538 0100007F:9999 01 00000000:00000000 00:00000000 00000000   102  0 79 1\n";

    fn process(planted: TestRoot, number: u32, parent: u32, name: &str) -> TestRoot {
        let stat = Stat { parent, threads: 1, ..Stat::default() };
        planted
            .with(&format!("proc/{number}/stat"), line(&stat))
            .with(&format!("proc/{number}/status"), format!("Name:\t{name}\nUid:\t1\t101\t1\t1\n"))
    }

    fn found(planted: &TestRoot, place: ServerLocation) -> Result<Vec<u32>, String> {
        find(&mut Files::of(&planted.root), &place, ServerOption::Key).unwrap()
    }

    #[test]
    fn server_is_the_holder_of_the_listening_socket() {
        let planted = process(process(TestRoot::new(), 40, 1, "postgres"), 41, 40, "postgres");
        let planted = process(planted, 50, 1, "other")
            .with("proc/net/tcp", TCP)
            .with_link("proc/40/fd/3", "socket:[77]")
            .with_link("proc/31/fd/3", "socket:[77]")
            .with("proc/40/comm", "postgres\n")
            .with("proc/41/comm", "postgres\n")
            .with_link("proc/50/fd/4", "socket:[78]")
            .with_link("proc/50/fd/5", "socket:[79]");
        assert_eq!(found(&planted, ServerLocation::Port(0x1538)), Ok(vec![40]));
        assert_eq!(found(&planted, ServerLocation::Port(22)), Ok(vec![50]));
        let why = found(&planted, ServerLocation::Port(23)).unwrap_err();
        assert!(why.contains("listens on port 23"), "{why}");
        let has_listener =
            |port| has_listener(&Files::of(&planted.root), &ServerLocation::Port(port));
        assert_eq!([0x1538, 22, 23].map(has_listener), [true, true, false]);
    }

    #[test]
    fn a_listener_behind_many_others_is_found() {
        let line = |port: usize| {
            format!(
                "{port}: 00000000:{port:04X} 00000000:0000 0A 0:0 0:0 0 1 0 {port} 1 0 100 0 0\n"
            )
        };
        let others: String = (1_000..3_000).map(line).collect();
        let planted = TestRoot::new().with("proc/net/tcp", format!("head\n{others}"));
        let found = |port: u16| tcp_listeners(&Files::of(&planted.root), port);
        assert_eq!(found(1_000).len(), 1);
        assert_eq!(found(2_999), [Listener { inode: 2_999, user: Some(1) }]);
        assert_eq!(found(3_000), []);
    }

    #[test]
    fn server_is_found_by_user_and_name_without_permission() {
        let planted = process(process(TestRoot::new(), 40, 1, "postgres"), 41, 40, "postgres");
        let planted = process(planted, 50, 1, "other").with("proc/net/tcp", TCP);
        assert_eq!(found(&planted, ServerLocation::Port(0x1538)), Ok(vec![40]));
        let why = found(&planted, ServerLocation::Port(22)).unwrap_err();
        assert!(why.contains("as its user or as root"), "{why}");
        let two = process(planted, 60, 1, "postgres");
        let why = found(&two, ServerLocation::Port(0x1538)).unwrap_err();
        assert!(why.starts_with("2 processes"), "{why}");
    }

    #[test]
    fn remedy_for_a_hidden_server_names_an_option_of_its_command() {
        let planted = TestRoot::new().with("proc/net/tcp", TCP);
        let two = process(process(TestRoot::new(), 40, 1, "postgres"), 60, 1, "postgres");
        for planted in [planted, two.with("proc/net/tcp", TCP)] {
            let why = |option| {
                let place = ServerLocation::Port(0x1538);
                find(&mut Files::of(&planted.root), &place, option).unwrap().unwrap_err()
            };
            let key = why(ServerOption::Key);
            assert!(key.ends_with("or as root, or give its number as `pid` in [observe]"), "{key}");
            let argument = why(ServerOption::Argument);
            assert!(argument.ends_with(", or give its number with `--server`"), "{argument}");
            let none = why(ServerOption::None);
            assert!(none.ends_with("user or as root"), "{none}");
        }
    }

    #[test]
    fn unix_socket_is_found_by_its_path() {
        let text = "Num       RefCount Protocol Flags    Type St Inode Path\n\
                    00000000: 00000002 00000000 00010000 0001 01 81 /none/a b.sock\n\
                    00000000: 00000003 00000000 00000000 0001 03 82 /none/a b.sock\n\
                    00000000: 00000003 00000000 00000000 0001 03  1142\n";
        let planted = process(TestRoot::new(), 40, 1, "mariadbd")
            .with("proc/net/unix", text)
            .with_link("proc/40/fd/9", "socket:[81]");
        assert_eq!(found(&planted, ServerLocation::Socket("/none/a b.sock".into())), Ok(vec![40]));
        assert!(found(&planted, ServerLocation::Socket("/other/a b.sock".into())).is_err());
    }

    #[test]
    fn server_is_found_by_process_id() {
        let planted = process(TestRoot::new(), 40, 1, "mariadbd");
        assert_eq!(found(&planted, ServerLocation::Process(40)), Ok(vec![40]));
        assert_eq!(
            found(&planted, ServerLocation::Process(4)),
            Err("there is no process 4".into())
        );
        let elsewhere = ServerLocation::Elsewhere(1);
        assert_eq!(find(&mut Files::of(&planted.root), &elsewhere, ServerOption::Key), None);
    }

    #[test]
    fn odd_lines_are_not_listeners() {
        for odd in
            ["", "0:", "0: :", "0: 1:ZZ 2 0A", "0: 0:16 0:0 01 0 0 0 0 0 0", "0: 0:16 0:0 0A"]
        {
            assert_eq!(tcp_listener(odd), None, "{odd}");
        }
        for odd in ["", "a b c d", "a: 2 0 00010000 1 1 x /p", "a: 2 0 zz 1 1 7 /p"] {
            assert_eq!(unix_listener(odd), None, "{odd}");
        }
    }
}
