//! The parts of a job: one section's statements, or several sections of a mix.

use std::ops::Range;
use std::sync::Arc;

use base::{AccountId, ById, Dialect, StatementId, Stream};
use driver::{PreparedId, Step, Work};
use record::{Ledger, Outlet, Request};
use workload::{Flow, Job, JobId, JobTarget, OnError, PartId, Plan, Reconnect, Requests};

use crate::statements::StatementText;

/// The parts of a job: the sections of a mix, or the job itself as the only one.
pub(crate) struct Parts {
    parts: ById<PartId, Part>,
    /// Cumulative weights of the parts.
    weights: Vec<u64>,
    /// Random numbers that choose the part of a request.
    choices: Stream,
    /// True if the requests of a client may differ in their steps, or consist of several exchanges
    /// with the server.
    has_varying_steps: bool,
    /// The prepared statements of all parts, in order. A connection that a client keeps prepares
    /// all of them; a connection for a single request prepares those of its part.
    texts: Vec<StatementText>,
    /// True if the parts belong to a mix. The ledger then counts the requests of each part
    /// separately.
    is_mix: bool,
}

/// A section and its statements, prepared for sending as requests.
pub(crate) struct Part {
    /// Requests of the section, completed with the settings of its mix.
    pub(crate) requests: Requests,
    /// The account under which the ledger counts requests of the section.
    pub(crate) account: AccountId,
    /// Steps of a request of the section.
    pub(crate) steps: Vec<Step>,
    /// Indexes, in [`Parts::texts`], of the statements that a request of the section prepares if it
    /// opens its own connection.
    pub(crate) texts: Range<usize>,
    /// Exchanges with the server: ranges of steps that are sent together. The client may pause
    /// between two exchanges.
    pub(crate) exchanges: Vec<Range<usize>>,
}

impl Parts {
    /// Creates the parts of all jobs of a plan, once for the run. `dialect` returns the dialect of
    /// a job's target.
    pub(crate) fn of_plan(
        plan: &Plan,
        dialect: impl Fn(JobTarget) -> Dialect,
    ) -> ById<JobId, Arc<Parts>> {
        let parts = |(id, job): (JobId, &Job)| Parts::of(plan, id, dialect(job.target));
        plan.jobs_by_id().map(parts).map(Arc::new).collect()
    }

    /// Creates the parts of a job of the plan.
    pub(crate) fn of(plan: &Plan, id: JobId, dialect: Dialect) -> Parts {
        let job = plan.job(id);
        let own = plan.account_of(id);
        let mut sections = Vec::new();
        for (account, part) in (own.0 + 1..).map(AccountId).zip(&job.parts) {
            sections.push((
                account,
                with_settings_of(&part.requests, &job.requests),
                u64::from(part.weight),
            ));
        }
        let is_mix = job.is_mix();
        if !is_mix {
            sections.push((own, job.requests.clone(), 1));
        }
        let mut texts = Vec::new();
        let mut parts: ById<PartId, Part> = ById::default();
        let mut weights = Vec::new();
        for (account, requests, weight) in sections {
            let first = texts.len();
            // The statement ids of a connection count from 0.
            let before = match job.reconnect {
                Reconnect::No => 0,
                Reconnect::PerTransaction => first,
            };
            let steps = steps(&requests, account, dialect, before, &mut texts);
            let exchanges = exchanges(&requests.flow, &steps);
            parts.push(Part { requests, account, steps, texts: first..texts.len(), exchanges });
            weights.push(weights.last().copied().unwrap_or(0) + weight);
        }
        let choices = Stream::new(plan.seed, job.name(), "mix");
        let has_varying_steps =
            parts.len() > 1 || parts.values().any(|part| part.exchanges.len() > 1);
        Parts { parts, weights, choices, has_varying_steps, texts, is_mix }
    }

    /// Returns all parts, in order.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Part> {
        self.parts.values()
    }

    /// Returns the prepared statements of all parts, in order. The connection that a client keeps
    /// prepares all of them.
    pub(crate) fn texts(&self) -> &[StatementText] {
        &self.texts
    }

    /// Returns a part.
    #[inline]
    pub(crate) fn part(&self, id: PartId) -> &Part {
        &self.parts[id]
    }

    /// Returns true if the requests of a client may differ in their steps, or consist of several
    /// exchanges with the server.
    #[inline]
    pub(crate) fn has_varying_steps(&self) -> bool {
        self.has_varying_steps
    }

    /// Returns the part of the request with this number: a pure function of the number and the
    /// seed.
    #[inline]
    pub(crate) fn choose(&self, number: u64) -> PartId {
        if self.parts.len() == 1 {
            return PartId::FIRST;
        }
        let total = self.weights.last().copied().unwrap_or(1);
        let drawn = self.choices.draw(number).below(total);
        PartId(self.weights.partition_point(|up_to| *up_to <= drawn) as u16)
    }

    /// Chooses the part to which a request belongs and, in a mix, records the part in the ledger.
    #[inline]
    pub(crate) fn assign(
        &self,
        request: Request,
        ledger: &mut Ledger<impl Outlet>,
    ) -> (Request, PartId) {
        let id = self.choose(request.number());
        match self.is_mix {
            true => (ledger.assign_part(request, self.parts[id].account), id),
            false => (request, id),
        }
    }

    /// Returns the number of parts whose requests the ledger counts separately; 0 for a job that is
    /// not a mix.
    pub(crate) fn accounts(&self) -> usize {
        if self.is_mix { self.parts.len() } else { 0 }
    }
}

impl Part {
    /// Returns the initial work of a client that begins with requests of this part.
    pub(crate) fn work(&self) -> Work {
        Work { steps: self.steps.clone(), is_pipelined: self.requests.pipeline, ..Work::default() }
    }

    /// Returns the message about lines of a log that were due but not read.
    pub(crate) fn unread_message(&self) -> String {
        let (file, section) = (self.file(), &self.requests.section);
        format!(
            "the file `{file}` of [{section}] was not read to the last line that was due: reading \
             took too long after the run"
        )
    }

    /// Returns the message about requests that came due but found no input in the part's file.
    pub(crate) fn no_input_message(&self) -> String {
        let (file, section) = (self.file(), &self.requests.section);
        format!(
            "the file `{file}` of [{section}] had nothing for requests that waited for it when \
             the run ended: its writer was too slow, or never opened it"
        )
    }

    fn file(&self) -> &str {
        self.requests.feed.as_ref().map_or("", |feed| feed.file.as_str())
    }
}

/// Returns a part's requests with the settings of the mix. `timeout` and `retry` of the mix apply
/// if the part has none of its own. Codes that the part or the mix accepts are accepted, and
/// `on-error = stop` applies if either has it.
fn with_settings_of(part: &Requests, mix: &Requests) -> Requests {
    let mut requests = part.clone();
    requests.timeout = requests.timeout.or(mix.timeout);
    requests.retry = requests.retry.or_else(|| mix.retry.clone());
    for code in &mix.accepted {
        if !requests.accepted.contains(code) {
            requests.accepted.push(*code);
        }
    }
    if mix.on_error == OnError::Stop {
        requests.on_error = OnError::Stop;
    }
    requests
}

/// Returns the steps of a section's requests, and appends to `texts` the statements of the section
/// that are prepared. Values are in the order of the statements; a statement that is not prepared
/// has one value, its text. `before` is the number of earlier `texts` that the connection does not
/// prepare.
fn steps(
    requests: &Requests,
    account: AccountId,
    dialect: Dialect,
    before: usize,
    texts: &mut Vec<StatementText>,
) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut first = 0;
    if requests.transaction {
        steps.push(Step::Begin);
    }
    for (number, statement) in requests.statements.iter().enumerate() {
        if !requests.prepare || statement.is_dynamic() {
            steps.push(Step::ExecuteText { text: first });
            first += 1;
        } else {
            let count = statement.parameters() as u32;
            let id = PreparedId((texts.len() - before) as u16);
            steps.push(Step::Execute { statement: id, first, count });
            let (sql, values) = (statement.text(dialect.placeholders()), count as usize);
            let statement = StatementId(number as u16);
            texts.push(StatementText { account, statement, sql, values });
            first += count;
        }
    }
    if requests.transaction {
        steps.push(Step::Commit);
    }
    steps
}

/// Divides steps into exchanges with the server: one for all steps, or one for each statement.
fn exchanges(flow: &Flow, steps: &[Step]) -> Vec<Range<usize>> {
    match flow {
        Flow::Together => std::iter::once(0..steps.len()).collect(),
        Flow::Session { .. } | Flow::Separately => {
            let is_statement = |step: &Step| !matches!(step, Step::Begin | Step::Commit);
            let mut ends: Vec<usize> =
                (1..=steps.len()).filter(|end| is_statement(&steps[end - 1])).collect();
            // BEGIN and COMMIT belong to the exchange of the adjacent statement.
            if let Some(last) = ends.last_mut() {
                *last = steps.len();
            }
            let starts = std::iter::once(0).chain(ends.iter().copied());
            starts.zip(ends.iter().copied()).map(|(start, end)| start..end).collect()
        }
    }
}
