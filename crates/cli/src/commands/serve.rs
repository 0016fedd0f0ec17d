//! `assay serve`: the records of a folder in a browser, until the user ends it.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use base::units::grouped;
use engine::Stop;
use lab::UserFolder;
use report::STYLE_SOURCE;
use serve::{Limits, Server, Settings, Token};

use crate::args::ServeArgs;
use crate::commands::answer;
use crate::complain::Complaint;
use crate::exit::Exit;
use crate::record_list::RecordList;
use crate::recorded_pages::RecordedPages;
use crate::{signals, stderr};

/// Serves the pages of a folder until a signal ends the program, which is a success.
pub(crate) fn serve(args: &ServeArgs) -> Result<Exit, Complaint> {
    let cache = UserFolder::Cache.path(|name| std::env::var_os(name));
    let list = RecordList::open(&args.folder, cache.as_deref());
    let server = bind(args)?;
    read(args, &list)?;
    let (sender, ends) = sync_channel(2);
    let interrupted = sender.clone();
    let listening = signals::listen(Stop::default(), move |_| {
        // The first signal is enough.
        let _ = interrupted.try_send(Ok(()));
    });
    listening.map_err(|error| Complaint::of(&error))?;
    answer::print(&format!("{}\n", server.url()))?;
    let pages = Arc::new(RecordedPages::new(list));
    let thread = std::thread::Builder::new().name("serve".to_owned());
    let thread = thread.spawn(move || sender.send(server.run(pages)));
    thread.map_err(|error| Complaint::new(format!("cannot start a thread: {error}")))?;
    match ends.recv() {
        Ok(Ok(())) | Err(_) => Ok(Exit::Success),
        Ok(Err(error)) => Err(Complaint::new(format!("cannot accept connections: {error}"))
            .help("start it again; `ulimit -n` shows how many files may be open")),
    }
}

fn bind(args: &ServeArgs) -> Result<Server, Complaint> {
    let token = Token::random()
        .map_err(|error| Complaint::new(format!("cannot draw a token from the kernel: {error}")))?;
    let listen = args.listen.clone();
    let settings = Settings { listen, limits: Limits::default(), style: STYLE_SOURCE };
    let server = Server::bind(settings, token).map_err(|error| cannot_listen(args, &error))?;
    if !server.is_local() {
        let sentence = format!(
            "other machines can reach `{}`: the following address lets them read all records in \
             `{}`, and the pages are not encrypted",
            args.listen,
            args.folder.display()
        );
        let help = "without --listen, only this machine is served; from another one, forward the \
                    port: `ssh -L 8600:127.0.0.1:8600 HOST`";
        Complaint::warning(sentence).help(help).print();
    }
    Ok(server)
}

/// Reads the records, so that no page waits for them.
fn read(args: &ServeArgs, list: &RecordList) -> Result<(), Complaint> {
    let folder = args.folder.display();
    let first = list.refresh()?;
    if let Some(unwritten) = first.unwritten {
        unwritten.print();
    }
    let (all, read) = (grouped(first.rows.len() as u64), grouped(first.read as u64));
    stderr::line(&format!("files in {folder}: {all}, of which {read} were read; Ctrl-C ends"));
    Ok(())
}

fn cannot_listen(args: &ServeArgs, error: &io::Error) -> Complaint {
    let listen = &args.listen;
    let (reason, help) = match error.kind() {
        ErrorKind::AddrInUse => (
            "another program listens there".to_owned(),
            "end that program, or take a free port with `--listen 127.0.0.1:0`",
        ),
        ErrorKind::AddrNotAvailable => (
            "it is not an address of this machine".to_owned(),
            "name an address of this machine, such as 127.0.0.1",
        ),
        ErrorKind::PermissionDenied => {
            ("it needs more rights".to_owned(), "name a port from 1024 to 65535")
        }
        _ => (error.to_string(), "name an address of this machine, such as 127.0.0.1"),
    };
    Complaint::new(format!("--listen: cannot listen at `{listen}`: {reason}")).help(help)
}
