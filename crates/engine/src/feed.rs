//! Requests from files: a thread reads ahead, and the lanes take input records as they need them.
//!
//! A group is the records of one request or of one batch. The thread fills blocks with groups, and
//! the lanes take the groups from [queues](crate::feed_queues) of blocks. In a closed job, all
//! lanes share one queue; in any other job, each lane has its own. The thread reuses a block when
//! no lane and no request holds it any more. In real time, a lane never waits for the file: while
//! the next group has not been read, the lane gets [`Next::Pending`] and tries again later. In
//! virtual time the lane waits, because waiting takes no time of the run.

use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use base::{AccountId, ById, Nanos};
use record::EventKind;
use workload::feed::{Fault, Group, ReadResult, Reader, Records};
use workload::{Feed, JobId, Pacing, PartId, Plan};

use crate::events::{Listener, RunEvent};
use crate::feed_queues::{
    Block, BlockSender, Distribution, FileEnd, LaneQueue, Taken, feed_queues,
};
use crate::share::Share;
use crate::stop::Stop;

/// Maximum number of groups in a block.
const GROUPS_PER_BLOCK: usize = 256;

/// Approximate size of a block's fields, in bytes.
const BYTES_PER_BLOCK: usize = 64 << 10;

/// A lane's source of the groups of one file.
pub(crate) struct LaneFeed {
    /// The queue of the blocks that the thread has filled.
    queue: LaneQueue,
    /// The block from which groups are currently taken.
    block: Option<Arc<Block>>,
    has_ended: bool,
    failure: Option<String>,
    observations: Arc<Observations>,
    /// In virtual time: the stop that ends the wait for the file.
    virtual_stop: Option<Stop>,
}

/// Observations about a file while it was read.
#[derive(Debug, Default)]
struct Observations {
    /// True if a lane asked for a group after the last one.
    is_exhausted: AtomicBool,
    /// A description of an unusual end of a pipe.
    unusual_end: OnceLock<String>,
}

/// A remark on an input file that is worth reporting, although it is not an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRemark {
    /// The account of the job or part that has the file.
    pub account: AccountId,
    /// The kind of event.
    pub kind: EventKind,
    /// A description of the event.
    pub text: String,
}

/// The next input from a file.
pub(crate) enum Next {
    Input(Input),
    /// Nothing yet: the file is being read, or its writer is slow.
    Pending,
    /// Nothing more.
    End,
}

/// The records of one request, or of one batch.
#[derive(Clone)]
pub(crate) struct Input {
    block: Arc<Block>,
    /// Index of the group in the block.
    at: usize,
}

/// The feeds of a job's parts on one lane.
#[derive(Default)]
pub(crate) struct Feeds(ById<PartId, Option<LaneFeed>>);

impl Feeds {
    /// Creates the feeds of a job's parts; empty if no part has a file.
    pub(crate) fn new(feeds: ById<PartId, Option<LaneFeed>>) -> Feeds {
        match feeds.values().any(Option::is_some) {
            true => Feeds(feeds),
            false => Feeds::default(),
        }
    }

    /// Returns true if any part has a feed.
    #[inline]
    pub(crate) fn is_any(&self) -> bool {
        !self.0.is_empty()
    }

    /// Returns the next input of a part's file; `None` if it has no file.
    pub(crate) fn next_if_any(&mut self, part: PartId) -> Option<Next> {
        self.0.get_mut(part)?.as_mut().map(LaneFeed::next)
    }

    /// Returns the next input of a part's file; [`Next::End`] if it has no file.
    pub(crate) fn next(&mut self, part: PartId) -> Next {
        self.next_if_any(part).unwrap_or(Next::End)
    }

    /// Returns the part and the reason if reading a part's file has failed. Reports each failure
    /// once.
    pub(crate) fn take_failure(&mut self) -> Option<(PartId, String)> {
        self.0.iter_mut().find_map(|(part, feed)| Some((part, feed.as_mut()?.take_failure()?)))
    }

    /// Returns true if a part's file has yielded nothing at all, and then ends the feed. Later
    /// calls for the same part return false.
    pub(crate) fn take_no_input(&mut self, part: PartId) -> bool {
        match self.0.get_mut(part) {
            Some(Some(feed)) if !feed.queue.has_begun() && !feed.has_ended => {
                feed.has_ended = true;
                true
            }
            _ => false,
        }
    }

    /// Drops the feeds of all files.
    pub(crate) fn drop_all(&mut self) {
        self.0.clear();
    }
}

impl Input {
    /// Returns the number of the group in its file, from 0.
    pub(crate) fn number(&self) -> u64 {
        self.block.records().number(self.at)
    }

    /// Returns the due time of a log line, relative to the first line.
    pub(crate) fn at(&self) -> Nanos {
        self.block.records().at(self.at)
    }

    /// Returns the records.
    pub(crate) fn group(&self) -> Group<'_> {
        self.block.records().group(self.at)
    }
}

impl LaneFeed {
    fn new(
        queue: LaneQueue,
        observations: Arc<Observations>,
        virtual_stop: Option<Stop>,
    ) -> LaneFeed {
        LaneFeed { queue, block: None, has_ended: false, failure: None, observations, virtual_stop }
    }

    /// Returns the next group.
    #[inline]
    pub(crate) fn next(&mut self) -> Next {
        loop {
            if let Some(block) = &self.block
                && let Some(at) = block.take()
            {
                return Next::Input(Input { block: Arc::clone(block), at });
            }
            if self.has_ended {
                return Next::End;
            }
            match self.queue.next_block(self.block.as_ref(), self.virtual_stop.as_ref()) {
                Taken::Block(block) => self.block = Some(block),
                Taken::Pending => return Next::Pending,
                Taken::End(end) => self.end(end),
            }
        }
    }

    #[cold]
    fn end(&mut self, end: FileEnd) {
        self.has_ended = true;
        match end {
            FileEnd::Exhausted => self.observations.is_exhausted.store(true, Ordering::Relaxed),
            FileEnd::Failed(why) => self.failure = Some(why),
            FileEnd::GivenUp => {}
        }
    }

    /// Returns the reason if reading the file has failed. Reports the failure once.
    pub(crate) fn take_failure(&mut self) -> Option<String> {
        self.failure.take()
    }
}

/// The feeds of one lane, by the account of the job or part that has the file.
pub(crate) type LaneFeeds = ById<AccountId, Option<LaneFeed>>;

/// The input files of all jobs and parts. Each lane has one feed for each of its jobs or parts that
/// has an input file.
#[derive(Clone)]
pub(crate) struct InputFiles {
    lanes: Arc<Mutex<Vec<LaneFeeds>>>,
    /// Observations about the input file of each job or part.
    observations: ById<AccountId, Option<Arc<Observations>>>,
}

impl InputFiles {
    /// Returns the feeds of a lane. Each lane can take its feeds only once.
    pub(crate) fn take(&self, lane: u16) -> LaneFeeds {
        let mut lanes = self.lanes.lock().expect("nothing panics under the lock");
        std::mem::take(&mut lanes[usize::from(lane)])
    }

    /// Starts reading the files of a plan, each on a thread of its own. `virtual_stop` is the stop
    /// of a run in virtual time: lanes then wait for their input until a stop is requested.
    ///
    /// # Errors
    /// A thread cannot be started. A file that cannot be opened is reported by its feeds.
    pub(crate) fn open(
        plan: &Plan,
        files: &confine::Files,
        lanes: u16,
        virtual_stop: Option<&Stop>,
        listener: &Arc<dyn Listener>,
    ) -> std::io::Result<InputFiles> {
        let mut observations_of_all = ById::default();
        let no_feeds = || plan.accounts().map(|_| None).collect();
        let mut feeds: Vec<LaneFeeds> = Vec::new();
        feeds.resize_with(lanes.into(), no_feeds);
        for (account, either) in plan.accounts() {
            let Some(feed) = &either.requests().feed else {
                observations_of_all.push(None);
                continue;
            };
            let observations = Arc::new(Observations::default());
            let id = observations_of_all.push(Some(Arc::clone(&observations)));
            let readers = readers(plan, account.job(), lanes);
            let distribution = distribution(&plan.job(account.job()).pacing);
            let (blocks, queues) = feed_queues(readers.len(), distribution);
            for (lane, queue) in readers.into_iter().zip(queues) {
                let virtual_stop = virtual_stop.cloned();
                feeds[usize::from(lane)][id] =
                    Some(LaneFeed::new(queue, Arc::clone(&observations), virtual_stop));
            }
            let name = format!("read {}", either.section());
            let (files, listener) = (files.clone(), Arc::clone(listener));
            let thread = ReadingThread { files, feed: feed.clone(), observations, listener };
            std::thread::Builder::new().name(name).spawn(move || thread.read(blocks))?;
        }
        Ok(InputFiles { lanes: Arc::new(Mutex::new(feeds)), observations: observations_of_all })
    }

    /// Returns the remarks on the files after the run.
    pub(crate) fn remarks(&self, plan: &Plan) -> Vec<FileRemark> {
        let mut remarks = Vec::new();
        for ((account, observations), either) in self.observations.iter().zip(plan.jobs_and_parts())
        {
            let (Some(observations), Some(feed)) = (observations, &either.requests().feed) else {
                continue;
            };
            let section = either.section();
            let file = format!("the file `{}` of [{section}]", feed.file);
            if let Some(unusual_end) = observations.unusual_end.get() {
                let text = format!("{file} {unusual_end}");
                remarks.push(FileRemark { account, kind: EventKind::FileCutOff, text });
            }
            if either.is_part() && observations.is_exhausted.load(Ordering::Relaxed) {
                let mix = either.job().name();
                let text = format!("{file} has no more records, which ended the mix [{mix}]");
                remarks.push(FileRemark { account, kind: EventKind::FileExhausted, text });
            }
        }
        remarks
    }
}

/// Returns the distribution of a file's groups to the lanes of a job.
fn distribution(pacing: &Pacing) -> Distribution {
    match pacing {
        // Lanes seldom have equally many clients, and clients are seldom equally fast.
        Pacing::Closed { .. } => Distribution::OnDemand,
        Pacing::Open { .. } | Pacing::Queue { .. } | Pacing::Timetable { .. } | Pacing::Replay => {
            Distribution::InTurn
        }
    }
}

/// Returns the lanes that have requests of a job, in the order in which they get groups.
fn readers(plan: &Plan, id: JobId, lanes: u16) -> Vec<u16> {
    match plan.job(id).pacing {
        Pacing::Queue { .. } => {
            let account = plan.account_of(id);
            let owns = |lane: &u16| Share { lane: *lane, lanes }.has(account.0.into());
            (0..lanes).filter(owns).collect()
        }
        Pacing::Closed { clients, .. } => {
            (0..lanes.min(clients.min(u16::MAX.into()) as u16)).collect()
        }
        Pacing::Open { .. } | Pacing::Timetable { .. } | Pacing::Replay => (0..lanes).collect(),
    }
}

/// The thread that reads one file for all lanes.
struct ReadingThread {
    files: confine::Files,
    feed: Feed,
    observations: Arc<Observations>,
    listener: Arc<dyn Listener>,
}

impl ReadingThread {
    /// Reads the file to its end, or until no lane wants more.
    fn read(self, mut blocks: BlockSender) {
        let ending = match self.open() {
            Ok(file) => distribute(file, &self.feed, &mut blocks),
            Err(error) => Err(Fault::Unreadable(error)),
        };
        // Set before any lane learns of the end.
        if let (true, Ok(Some(unusual_end))) = (self.is_pipe(), &ending) {
            let _ = self.observations.unusual_end.set(unusual_end.clone());
        }
        blocks.end(match ending {
            Ok(_) => FileEnd::Exhausted,
            Err(fault) => FileEnd::Failed(fault.to_string()),
        });
    }

    /// Opens the file. Opening a pipe blocks until it has a writer.
    fn open(&self) -> std::io::Result<File> {
        if !self.is_pipe() {
            return self.files.open(&self.feed.file);
        }
        let file = self.feed.file.as_str();
        self.listener.on_event(&RunEvent::AwaitingWriter { file });
        let opened = self.files.open_pipe(file);
        self.listener.on_event(&RunEvent::WriterConnected { file });
        opened
    }

    /// Returns true if the file is not a regular one, so it can be read only once and was not
    /// checked before the run.
    fn is_pipe(&self) -> bool {
        self.files.is_regular(&self.feed.file).is_ok_and(|is_regular| !is_regular)
    }
}

/// Reads a file, and distributes its groups to the queues in turn, until the file ends or no lane
/// is left. Returns a description of the end of the file if the end is unusual.
fn distribute(file: File, feed: &Feed, sender: &mut BlockSender) -> Result<Option<String>, Fault> {
    let per_group = feed.per_request as usize;
    let queues = sender.queue_count();
    let mut reader = Reader::new(file, feed.format, per_group);
    let mut blocks = vec![Records::default(); queues];
    blocks.iter_mut().for_each(|block| block.reset(per_group));
    loop {
        let of = |group: u64| (group % queues as u64) as usize;
        let is_full =
            |block: &Records| block.len() >= GROUPS_PER_BLOCK || block.bytes() >= BYTES_PER_BLOCK;
        let more = reader.fill(&mut blocks, of, is_full);
        for (queue, block) in blocks.iter_mut().enumerate() {
            if !block.is_empty() {
                sender.send(queue, block, per_group);
            }
        }
        match more? {
            ReadResult::End => return Ok(unusual_end(&reader, per_group)),
            ReadResult::Full | ReadResult::NeedsReading if !sender.wait_for_demand() => {
                return Ok(None);
            }
            ReadResult::Full | ReadResult::NeedsReading => {}
        }
    }
}

/// Returns a description of the end of a file if its last record may be incomplete, or if its last
/// records were too few for a request and were not used.
fn unusual_end(reader: &Reader<File>, per_group: usize) -> Option<String> {
    let left_over = reader.left_over();
    match (left_over, reader.is_cut_off()) {
        (0, false) => None,
        (0, true) => Some(
            "ended within a line: its last record, which was used, may be incomplete".to_owned(),
        ),
        (_, _) => Some(format!(
            "ended within a request: it takes {per_group} records, and the last {left_over} were \
             not sent"
        )),
    }
}
