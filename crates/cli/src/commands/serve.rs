//! `assay serve`: serves the records of a folder to a browser until the user ends the program.

use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use base::units::grouped;
use engine::Stop;
use lab::UserFolder;

use crate::args::ServeArgs;
use crate::commands::answer;
use crate::complain::Complaint;
use crate::exit::Exit;
use crate::listening::{ServedPages, bind};
use crate::record_list::{RecordList, RefreshedList};
use crate::recorded_pages::RecordedPages;
use crate::{signals, stderr};

/// Serves the pages of a folder until a signal ends the program, which is a success.
pub(crate) fn serve(args: &ServeArgs) -> Result<Exit, Complaint> {
    let cache = UserFolder::Cache.path(|name| std::env::var_os(name));
    let list = RecordList::open(&args.folder, cache.as_deref());
    let served = if args.read_only { ServedPages::ReadOnlyRecords } else { ServedPages::Records };
    let server = bind(&args.listen, served)?;
    read(args, &list)?;
    let (sender, ends) = sync_channel(2);
    let interrupted = sender.clone();
    signals::listen(Stop::default(), move |_| {
        // Fails only if earlier signals have already announced the end.
        let _ = interrupted.try_send(Ok(()));
    })?;
    answer::print(&format!("{}\n", server.url()))?;
    let pages = Arc::new(RecordedPages::new(list, !args.read_only));
    let thread = std::thread::Builder::new().name("serve".to_owned());
    let thread = thread.spawn(move || sender.send(server.run(pages)));
    thread.map_err(|error| Complaint::of_thread("the server", &error))?;
    match ends.recv() {
        Ok(Ok(())) | Err(_) => Ok(Exit::Success),
        Ok(Err(error)) => Err(Complaint::new(format!("cannot accept connections: {error}"))
            .help("start it again; `ulimit -n` shows how many files may be open")),
    }
}

/// Reads the records in advance, so no page waits for them.
fn read(args: &ServeArgs, list: &RecordList) -> Result<(), Complaint> {
    let folder = args.folder.display();
    let first = list.refresh()?;
    if let Some(error) = &first.index_error {
        error.print();
    }
    if let Some(unread) = unread_folders(&first) {
        unread.print();
    }
    let files = first.rows.len() - first.unreadable_folders;
    let (all, read) = (grouped(files as u64), grouped(first.files_read as u64));
    stderr::line(&format!("files in {folder}: {all}, of which {read} were read; Ctrl-C ends"));
    Ok(())
}

/// Returns the warning about folders that cannot be read, which names the first one.
fn unread_folders(found: &RefreshedList) -> Option<Complaint> {
    let folders = &found.rows[..found.unreadable_folders];
    let (first, others) = folders.split_first()?;
    let more = match others.len() as u64 {
        0 => String::new(),
        more => format!(" and {} more", grouped(more)),
    };
    let sentence = format!("`{}`{more}: {}; its records are missing", first.file, first.headline);
    let help = "give yourself the right to read it, or move it away";
    Some(Complaint::warning(sentence).help(help))
}
