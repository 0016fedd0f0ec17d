//! The page, the events and the metrics of a run in progress.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base::shell_word;
use report::{LiveRunView, live_html, live_json};
use serve::{
    Answer, Event, EventSource, ListenAddress, Pages, Response, Route, Server, Status, Viewers,
};

use crate::args::RunArgs;
use crate::complain::Complaint;
use crate::display::{Display, Watcher};
use crate::listening::{self, ServedPages};
use crate::stderr;

/// Number of refreshes without a change after which a message is sent to find out whether the
/// viewer is still connected: ten seconds.
const QUIET_REFRESHES: u32 = 40;

/// Longest wait, after the end of a run, until its viewers have received the last event.
const VIEWER_GRACE: Duration = Duration::from_secs(1);

/// The path of a run's record, set when the run has ended. The path is not known before the record
/// is created, because several runs that begin at once get different names.
type CreatedRecord = Arc<OnceLock<PathBuf>>;

/// The pages of a run in progress.
struct LivePages {
    watcher: Arc<Watcher>,
    record: CreatedRecord,
}

impl Pages for LivePages {
    fn answer(&self, route: &Route) -> Answer {
        match route {
            Route::Home { .. } => Response::page(Status::Ok, live_html(&self.watcher.now())).into(),
            Route::Events => Answer::Events(Box::new(LiveEvents {
                watcher: Arc::clone(&self.watcher),
                record: Arc::clone(&self.record),
                sent: None,
                is_over: false,
            })),
            Route::Report { .. } | Route::Overlay { .. } | Route::Notes { .. } | Route::Metrics => {
                Route::not_found().into()
            }
        }
    }
}

/// The events of a run for one viewer.
struct LiveEvents {
    watcher: Arc<Watcher>,
    record: CreatedRecord,
    /// The last message.
    sent: Option<String>,
    is_over: bool,
}

impl EventSource for LiveEvents {
    fn next(&mut self) -> Option<Event> {
        if self.is_over {
            return None;
        }
        for _ in 0..QUIET_REFRESHES {
            // The first message is sent at once.
            let view = match self.sent {
                None => Some(self.watcher.now()),
                Some(_) => self.watcher.next(),
            };
            let Some(view) = view else {
                self.is_over = true;
                return Some(Event::End(end_sentence(self.record.get())));
            };
            if let Some(event) = self.message_if_changed(&view) {
                return Some(event);
            }
        }
        Some(Event::KeepAlive)
    }
}

impl LiveEvents {
    /// Returns the message about a view; `None` if the last message was the same.
    fn message_if_changed(&mut self, view: &LiveRunView) -> Option<Event> {
        let message = live_json(view);
        if self.sent.as_ref() == Some(&message) {
            return None;
        }
        self.sent = Some(message.clone());
        Some(Event::Message(message))
    }
}

/// Returns the sentence for the end of a run: the command that prints its answer.
fn end_sentence(record: Option<&PathBuf>) -> String {
    match record {
        Some(record) => {
            let record = shell_word(&record.display().to_string());
            format!("`assay report {record}` prints the answer")
        }
        None => "it has left no record".to_owned(),
    }
}

/// The metrics of a run in progress.
struct MetricsPages {
    watcher: Watcher,
}

impl Pages for MetricsPages {
    fn answer(&self, route: &Route) -> Answer {
        match route {
            Route::Metrics => Response::metrics(self.watcher.metrics()).into(),
            Route::Home { .. }
            | Route::Report { .. }
            | Route::Overlay { .. }
            | Route::Notes { .. }
            | Route::Events => Route::not_found().into(),
        }
    }
}

/// The servers of a run, which listen before it begins.
pub(crate) struct LiveServers {
    run: Option<Server>,
    metrics: Option<Server>,
}

impl LiveServers {
    /// Listens at the addresses of the options, and prints the addresses of the pages.
    ///
    /// # Errors
    /// An address cannot be used.
    pub(crate) fn bind(args: &RunArgs) -> Result<LiveServers, Complaint> {
        let bound = |listen: &Option<ListenAddress>, served| {
            listen.as_ref().map(|listen| listening::bind(listen, served)).transpose()
        };
        let run = bound(&args.serve, ServedPages::Run)?;
        let metrics = bound(&args.metrics, ServedPages::Metrics)?;
        if let Some(run) = &run {
            stderr::line(&format!("the run is shown at {}", run.url()));
        }
        if let Some(metrics) = &metrics {
            stderr::line(&format!("its metrics are at {}metrics", metrics.url()));
        }
        Ok(LiveServers { run, metrics })
    }

    /// Returns true if metrics are served.
    pub(crate) fn have_metrics(&self) -> bool {
        self.metrics.is_some()
    }

    /// Begins to answer requests about the run of a display.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub(crate) fn start(self, display: &Display) -> Result<LiveViewers, Complaint> {
        let failed = |error| Complaint::of_thread("pages", &error);
        if let Some(server) = self.metrics {
            server.start(Arc::new(MetricsPages { watcher: display.watcher() })).map_err(failed)?;
        }
        let record = CreatedRecord::default();
        let Some(server) = self.run else { return Ok(LiveViewers { viewers: None, record }) };
        let watcher = Arc::new(display.watcher());
        let follower = Arc::clone(&watcher);
        let thread = std::thread::Builder::new().name("live-series".to_owned());
        thread.spawn(move || follower.follow()).map_err(failed)?;
        let pages = LivePages { watcher, record: Arc::clone(&record) };
        let viewers = Some(server.start(Arc::new(pages)).map_err(failed)?);
        Ok(LiveViewers { viewers, record })
    }
}

/// The viewers of a run.
pub(crate) struct LiveViewers {
    viewers: Option<Viewers>,
    record: CreatedRecord,
}

impl LiveViewers {
    /// Sets the path of the record that was created for the run. Must be called before the display
    /// finishes, because the last event names the record.
    pub(crate) fn name_record(&self, record: &Path) {
        // There is one record, so the name is set once.
        let _ = self.record.set(record.to_owned());
    }

    /// Waits briefly until the viewers know that the run has ended.
    pub(crate) fn wait_for_viewers(&self) {
        if let Some(viewers) = &self.viewers {
            viewers.drain(VIEWER_GRACE);
        }
    }
}
