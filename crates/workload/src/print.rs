//! Printing of plans as workload files.
//!
//! The text has parameters replaced by their values, and most defaults written out. Checking it
//! again gives a plan that is equal [as printed](Plan::as_printed). Generators keep their random
//! numbers, because their streams are identified by section, key and order.

use std::collections::HashMap;
use std::fmt::{Display, Write as _};

use base::{Code, Dialect};

use crate::expr::{Expr, Family, Node, is_name};
use crate::feed::{Format, written_delimiter};
use crate::generate::{Column, Uniform};
use crate::plan::{
    Arrival, FixedStatement, Flow, Indexes, Job, JobOrPart, JobTarget, Let, Load, LoadMethod,
    Observe, OnDuplicate, OnError, OnOutage, OnQueueFull, Pacing, Part, Piece, Plan, Reconnect,
    Requests, Schedule, Slo,
};
use crate::shape::Recorded;
use crate::text::PrintedSyntax;
use crate::value::notation;

impl Plan {
    /// Returns the plan as the text of a workload file.
    ///
    /// Passwords in the URLs of targets are left out, and secret parameters are hidden.
    pub fn to_text(&self) -> String {
        self.with_secrets_hidden().text()
    }

    fn text(&self) -> String {
        let mut out = Page(String::new());
        self.globals(&mut out);
        if !self.params.is_empty() {
            out.header("params");
            for param in &self.params {
                out.key(&param.name, &param.value);
            }
        }
        for named in &self.targets {
            out.header(&format!("target {}", named.name));
            out.key("url", &named.target);
        }
        let sections = self.printed_sections();
        // A job may have the name `observe`. Its file then cannot have the settings of `[observe]`,
        // so they are left out. Only `assay dbbench` changes them in such a plan: it switches the
        // samples of the database off, and its record does not need this setting.
        let has_settings = !sections.contains_key("observe");
        if has_settings && (self.observe != Observe::default() || self.does_nothing()) {
            self.observe.print(&mut out);
        }
        let main =
            PrintedSyntax::Sql { dialect: self.dialect(JobTarget::Main), placeholders: false };
        fixed("setup", &self.setup, main, &mut out);
        self.loads.iter().for_each(|load| load.print(&mut out));
        for (place, either) in self.jobs_and_parts().enumerate() {
            let section = &sections[either.section()];
            if section.place == place {
                let slos = &either.requests().slos[..section.shared_slos];
                Section { plan: self, either, slos }.print(&mut out);
            }
        }
        self.thresholds(&sections, &mut out);
        fixed("teardown", &self.teardown, main, &mut out);
        out.0
    }

    /// Returns true if the plan only observes.
    fn does_nothing(&self) -> bool {
        let has_statements = !self.setup.is_empty() || !self.teardown.is_empty();
        self.jobs.is_empty() && self.loads.is_empty() && !has_statements
    }

    /// Returns the sections of all jobs and parts, by name.
    fn printed_sections(&self) -> HashMap<&str, PrintedSection<'_>> {
        let mut sections = HashMap::new();
        for (place, either) in self.jobs_and_parts().enumerate() {
            let slos = &either.requests().slos;
            let new = PrintedSection { place, either, shared_slos: slos.len() };
            let section = sections.entry(either.section()).or_insert(new);
            let both = section.either.requests().slos.iter().zip(slos);
            let shared = both.take_while(|(one, other)| one == other).count();
            section.shared_slos = section.shared_slos.min(shared);
            if !either.is_part() {
                (section.place, section.either) = (place, either);
            }
        }
        sections
    }

    /// Prints the conditions that cannot be printed in a section. A section that stands for several
    /// jobs and parts is printed once, with the leading conditions that all of them share. Their
    /// other conditions are printed here, each with the name of its job or part.
    fn thresholds(&self, sections: &HashMap<&str, PrintedSection<'_>>, out: &mut Page) {
        let mut has_header = false;
        for either in self.jobs_and_parts() {
            for slo in &either.requests().slos[sections[either.section()].shared_slos..] {
                if !has_header {
                    out.header("threshold");
                    has_header = true;
                }
                let (metric, rest) = slo.text.split_once(' ').unwrap_or((&slo.text, ""));
                out.key("slo", format!("{metric}({}) {rest}", inserted(either.name())));
            }
        }
    }

    fn globals(&self, out: &mut Page) {
        out.optional("url", self.target.as_ref());
        out.optional("duration", self.duration);
        out.key("warmup", self.warmup);
        out.key("seed", self.seed.0);
        out.key("drain", self.drain);
        out.key("stall-timeout", self.stall_timeout);
        out.key("setup-timeout", self.setup_timeout);
        out.key("probe", self.probe);
        out.optional("connections", self.connections);
        out.key("max-connections", self.max_connections);
    }
}

/// A section of the printed plan, which stands for all jobs and parts that were made from it.
struct PrintedSection<'p> {
    /// The index of `either` among all jobs and parts.
    place: usize,
    /// The job or part that is printed: the job if the section runs on its own, otherwise the first
    /// part.
    either: JobOrPart<'p>,
    /// Number of leading conditions that all these jobs and parts share.
    shared_slos: usize,
}

/// A text to which lines are appended.
struct Page(String);

impl Page {
    fn header(&mut self, name: &str) {
        // Writing into a String cannot fail.
        let _ = writeln!(self.0, "\n[{name}]");
    }

    fn key(&mut self, name: &str, value: impl Display) {
        let _ = writeln!(self.0, "{name} = {value}");
    }

    fn optional(&mut self, name: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.key(name, value);
        }
    }
}

fn fixed(name: &str, statements: &[FixedStatement], printed: PrintedSyntax, out: &mut Page) {
    if statements.is_empty() {
        return;
    }
    out.header(name);
    for statement in statements {
        let pieces = [Piece::Text(statement.text.clone())];
        out.key("query", written(&pieces, printed, |_| String::new()));
    }
}

impl Observe {
    fn print(&self, out: &mut Page) {
        out.header("observe");
        out.key("every", self.every);
        out.key("database", if self.database { "yes" } else { "no" });
        self.processes.iter().for_each(|number| out.key("pid", number));
        self.hosts.iter().for_each(|host| out.key("host", host));
    }
}

impl Load {
    fn print(&self, out: &mut Page) {
        out.header(&format!("load {}", self.table));
        out.key("rows", self.rows);
        for column in &self.columns {
            out.key("column", format!("{}: {}", column.name, printed(&column.value, &[])));
        }
        out.key("writers", self.writers);
        out.key("batch", self.batch);
        out.key("method", self.method.word());
        out.key("on-duplicate", self.on_duplicate.word());
        out.key("indexes", self.indexes.word());
    }
}

impl LoadMethod {
    fn word(self) -> &'static str {
        match self {
            LoadMethod::Auto => "auto",
            LoadMethod::Insert => "insert",
            LoadMethod::Copy => "copy",
            LoadMethod::LoadData => "load-data",
        }
    }
}

impl OnDuplicate {
    fn word(self) -> &'static str {
        match self {
            OnDuplicate::Error => "error",
            OnDuplicate::Ignore => "ignore",
            OnDuplicate::Replace => "replace",
        }
    }
}

impl Indexes {
    fn word(self) -> &'static str {
        match self {
            Indexes::Before => "before",
            Indexes::After => "after",
        }
    }
}

impl OnError {
    fn word(self) -> &'static str {
        match self {
            OnError::Continue => "continue",
            OnError::Stop => "stop",
        }
    }
}

impl OnOutage {
    fn word(self) -> &'static str {
        match self {
            OnOutage::Fail => "fail",
            OnOutage::Wait => "wait",
        }
    }
}

impl OnQueueFull {
    fn word(self) -> &'static str {
        match self {
            OnQueueFull::Reject => "reject",
            OnQueueFull::Stop => "stop",
        }
    }
}

/// A section to be printed.
struct Section<'p> {
    plan: &'p Plan,
    either: JobOrPart<'p>,
    /// The conditions of the section.
    slos: &'p [Slo],
}

impl Section<'_> {
    fn print(&self, out: &mut Page) {
        let Section { plan, either, slos } = *self;
        let requests = either.requests();
        out.header(either.section());
        // A part has the target and the pacing of its mix.
        let job = (!either.is_part()).then_some(either.job());
        let summary = job.map_or_else(|| "a part of a mix".to_owned(), summary);
        let _ = writeln!(out.0, "; {summary}");
        for variable in &requests.lets {
            let value = printed(&variable.value, &requests.lets);
            out.key("let", format!("{}: {value}", variable.name));
        }
        if let Some(job) = job {
            out.optional("target", plan.name_of(job.target));
        }
        match job {
            Some(job) if job.command().is_some() => print_command(requests, out),
            // The statements are in the log.
            Some(Job { pacing: Pacing::Replay, .. }) => print_answers(requests, out),
            Some(job) if job.is_mix() => out.key("mix", portions(job)),
            _ => print_statements(requests, plan.dialect(either.job().target), out),
        }
        print_flow(requests, out);
        print_feed(requests, out);
        out.optional("query-results-file", requests.results.as_deref().map(escaped));
        if let Some(job) = job {
            print_pacing(job, out);
            out.key("start", job.start);
            out.optional("stop", job.stop);
            out.optional("count", job.count);
        }
        print_faults(requests, out);
        if let Some(job) = job {
            print_outages(job, out);
        }
        for slo in slos {
            out.key("slo", &slo.text);
        }
    }
}

fn print_command(requests: &Requests, out: &mut Page) {
    for command in &requests.statements {
        let expr = |expr: &Expr| printed(expr, &requests.lets);
        let text = written(&command.pieces, PrintedSyntax::Command, expr);
        out.key("command", text);
    }
}

fn print_statements(requests: &Requests, dialect: Dialect, out: &mut Page) {
    if requests.transaction || requests.flow == Flow::Together {
        out.key("transaction", if requests.transaction { "yes" } else { "no" });
    }
    if requests.pipeline {
        out.key("pipeline", "yes");
    }
    print_answers(requests, out);
    let as_sql = PrintedSyntax::Sql { dialect, placeholders: requests.feed.is_some() };
    for statement in &requests.statements {
        let expr = |expr: &Expr| printed(expr, &requests.lets);
        out.key("query", written(&statement.pieces, as_sql, expr));
    }
}

/// Prints how statements are sent and which answers are expected.
fn print_answers(requests: &Requests, out: &mut Page) {
    out.key("prepare", if requests.prepare { "yes" } else { "no" });
    out.optional("expect-rows", requests.expect_rows);
}

fn portions(mix: &Job) -> String {
    let portion = |part: &Part| format!("{}: {}", part.requests.section, part.weight);
    mix.parts.iter().map(portion).collect::<Vec<_>>().join(", ")
}

fn print_flow(requests: &Requests, out: &mut Page) {
    match &requests.flow {
        Flow::Together => {}
        Flow::Separately => out.key("multi-query-mode", "multi-connection"),
        Flow::Session { think } => {
            out.key("session", "yes");
            out.optional("think", think.as_ref().map(|think| printed(think, &requests.lets)));
        }
    }
}

fn print_feed(requests: &Requests, out: &mut Page) {
    let Some(feed) = &requests.feed else { return };
    match feed.format {
        Format::Log => out.key("query-log-file", escaped(&feed.file)),
        Format::Csv { delimiter } => {
            out.key("query-args-file", escaped(&feed.file));
            if delimiter != b',' {
                out.key("query-args-delim", written_delimiter(delimiter));
            }
        }
    }
}

fn print_pacing(job: &Job, out: &mut Page) {
    match &job.pacing {
        Pacing::Open { schedule, batch } => {
            schedule.print(true, out);
            out.key("batch-size", batch);
        }
        Pacing::Timetable { schedule, batch } => {
            schedule.print(false, out);
            out.key("batch-size", batch);
        }
        Pacing::Queue { schedule, batch, workers, limit, on_full } => {
            schedule.print(true, out);
            out.key("batch-size", batch);
            out.key("concurrency", workers);
            out.key("queue-limit", limit);
            out.key("on-queue-full", on_full.word());
        }
        Pacing::Replay => {}
        Pacing::Closed { clients, think } => {
            out.key("concurrency", clients);
            out.optional("think", think.as_ref().map(|think| printed(think, &job.requests.lets)));
        }
    }
}

fn print_faults(requests: &Requests, out: &mut Page) {
    out.optional("timeout", requests.timeout);
    let retry = requests.retry.as_ref();
    out.optional("retry", retry.map(|retry| format!("{} on {}", retry.times, codes(&retry.codes))));
    if !requests.accepted.is_empty() {
        out.key("error", codes(&requests.accepted));
    }
    out.key("on-error", requests.on_error.word());
}

fn print_outages(job: &Job, out: &mut Page) {
    let reconnects = match job.reconnect {
        Reconnect::No => false,
        Reconnect::PerTransaction => true,
    };
    if reconnects {
        out.key("reconnect", "per-transaction");
    }
    if job.arrivals().is_some() || reconnects {
        out.key("outage", job.on_outage.word());
    }
}

/// Describes a job in a few words: `open: 3000/s Poisson arrivals`.
fn summary(job: &Job) -> String {
    match &job.pacing {
        Pacing::Open { schedule, batch } => format!("open: {}", schedule.words(*batch)),
        Pacing::Timetable { schedule, batch } => {
            format!("timetable: {}", schedule.words(*batch))
        }
        Pacing::Queue { schedule, batch, workers, .. } => {
            format!("queue: {}, served by {workers}", schedule.words(*batch))
        }
        Pacing::Replay => {
            let file = job.requests.feed.as_ref().map_or("", |feed| feed.file.as_str());
            format!("replay of {file}")
        }
        Pacing::Closed { clients, think } => {
            let pause = if think.is_some() { " that think between requests" } else { "" };
            let noun = if *clients == 1 { "client" } else { "clients" };
            format!("closed: {clients} {noun}{pause}")
        }
    }
}

impl Schedule {
    /// Prints the keys of a schedule; a timetable has no `arrival`.
    fn print(&self, with_arrival: bool, out: &mut Page) {
        let arrival = match self {
            Schedule::Every(period) => return out.key("every", period),
            Schedule::Recorded(recorded) => return out.key("rate", recorded),
            Schedule::Poisson(rate) => {
                out.key("rate", rate.to_decimal());
                Arrival::Poisson
            }
            Schedule::Uniform(rate) => {
                out.key("rate", rate.to_decimal());
                Arrival::Uniform
            }
            Schedule::Varying { shape, arrival } => {
                out.key("rate", shape);
                *arrival
            }
        };
        if with_arrival {
            out.key("arrival", arrival.word());
        }
    }

    fn words(&self, batch: u32) -> String {
        let requests =
            if batch == 1 { String::new() } else { format!(" of {batch} requests each") };
        match self {
            Schedule::Poisson(rate) => format!("{rate} Poisson arrivals{requests}"),
            Schedule::Uniform(rate) => format!("{rate} uniform arrivals{requests}"),
            Schedule::Every(period) => format!("one arrival each {period}{requests}"),
            Schedule::Varying { shape, arrival } => {
                let kind = match arrival {
                    Arrival::Poisson => "Poisson",
                    Arrival::Uniform => "uniform",
                };
                format!("{kind} arrivals{requests}, {}", shape.words())
            }
            Schedule::Recorded(Recorded(times)) => {
                format!("{} recorded arrivals{requests}", times.len())
            }
        }
    }
}

impl Arrival {
    fn word(self) -> &'static str {
        match self {
            Arrival::Poisson => "poisson",
            Arrival::Uniform => "uniform",
        }
    }
}

fn codes(codes: &[Code]) -> String {
    let codes: Vec<&str> = codes.iter().map(Code::as_str).collect();
    codes.join(", ")
}

/// Returns a statement as it is written in a file.
///
/// The texts between values are copied, with each `${` escaped, if the result is one line that
/// parses to the same pieces. Otherwise all texts are written as `${raw(…)}`, because a literal
/// that is only partly within `${raw(…)}` would be parsed differently.
fn written(pieces: &[Piece], printed: PrintedSyntax, expr: impl Fn(&Expr) -> String) -> String {
    let plain = joined(pieces, escaped, &expr);
    let is_one_line = !plain.contains(['\n', '\r']) && !plain.ends_with('\\');
    if is_one_line && printed.has_pieces(&plain, pieces) {
        return plain;
    }
    joined(pieces, |text| format!("${{raw({})}}", notation::quoted(text)), &expr)
}

/// Joins the pieces of a statement, with its texts written by `text`.
fn joined(
    pieces: &[Piece],
    text: impl Fn(&str) -> String,
    expr: impl Fn(&Expr) -> String,
) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text(piece) => text(piece),
        Piece::Value(value) | Piece::Quoted(value) => format!("${{{}}}", expr(value)),
        Piece::Splice(value) => format!("${{raw({})}}", expr(value)),
    };
    pieces.iter().map(piece).collect()
}

/// Returns a text as it is written within a value, with each `${` escaped. A text that has control
/// characters, or would begin a comment, is written as `${"…"}`.
fn inserted(text: &str) -> String {
    match notation::is_plain(text) {
        true => escaped(text),
        false => format!("${{{}}}", notation::quoted(text)),
    }
}

/// Escapes every `${` of a text.
fn escaped(text: &str) -> String {
    text.replace("${", "$${")
}

/// Returns an expression as it is written in a file.
fn printed(expr: &Expr, lets: &[Let]) -> String {
    let mut out = String::new();
    print_node(&expr.0, lets, &mut out);
    out
}

fn print_node(node: &Node, lets: &[Let], out: &mut String) {
    match node {
        Node::Int(number) => out.push_str(&number.to_string()),
        Node::Real(number) => out.push_str(&notation::real(*number)),
        Node::Duration(nanos) => out.push_str(&notation::duration(*nanos)),
        Node::Text(content) => out.push_str(&notation::quoted(content)),
        Node::Variable(place) => {
            out.push_str(lets.get(*place).map_or("?", |variable| &variable.name));
        }
        Node::Negate(inner) => {
            out.push('-');
            print_operand(inner, 3, lets, out);
        }
        Node::Combine(combination) => {
            let precedence = combination.operator.precedence();
            print_operand(&combination.left, precedence, lets, out);
            out.push_str(&format!(" {} ", combination.operator.sign()));
            print_operand(&combination.right, precedence + 1, lets, out);
        }
        Node::Generate(generate) => print_call(&generate.family, lets, out),
    }
}

/// Prints an operand, in parentheses if its precedence is below `lowest`.
fn print_operand(node: &Node, lowest: u8, lets: &[Let], out: &mut String) {
    let loose = match node {
        Node::Combine(combination) => combination.operator.precedence() < lowest,
        Node::Negate(_) => false,
        Node::Int(_)
        | Node::Real(_)
        | Node::Duration(_)
        | Node::Text(_)
        | Node::Variable(_)
        | Node::Generate(_) => false,
    };
    if loose {
        out.push('(');
    }
    print_node(node, lets, out);
    if loose {
        out.push(')');
    }
}

fn print_call(family: &Family, lets: &[Let], out: &mut String) {
    let node = |node: &Node| {
        let mut out = String::new();
        print_node(node, lets, &mut out);
        out
    };
    let arguments = match family {
        Family::Uniform(uniform) => uniform_ends(uniform, node),
        Family::Zipf(zipf) => {
            let (lo, hi, s) = zipf.arguments();
            vec![lo.to_string(), hi.to_string(), format!("s={}", notation::real(s))]
        }
        Family::Exponential(only) | Family::Timestamp(only) | Family::Hex(only) => vec![node(only)],
        Family::Normal(mean, deviation) => vec![node(mean), node(deviation)],
        Family::Pareto(pareto) => {
            let (minimum, shape) = pareto.arguments();
            vec![node(minimum), notation::real(shape)]
        }
        Family::Field(place) => vec![(place + 1).to_string()],
        Family::Hotspot(hotspot) => {
            let (hot, share) = hotspot.fractions();
            let fractions = [("hot", hot), ("share", share)];
            let named = fractions.map(|(name, value)| format!("{name}={}", notation::real(value)));
            ends(hotspot.ends()).into_iter().chain(named).collect()
        }
        Family::Latest(latest) => ends(latest.ends()),
        Family::Nurand(nurand) => {
            [nurand.a().to_string()].into_iter().chain(ends(nurand.ends())).collect()
        }
        Family::Row | Family::Client(_) | Family::Uuid | Family::Point => Vec::new(),
        Family::Sequence(start) => vec![start.to_string()],
        Family::Permute(permute) => vec![permute.limit().to_string()],
        Family::Text(lo, hi) => [lo].into_iter().chain(hi).map(node).collect(),
        Family::Digits(pattern) => vec![notation::quoted(pattern)],
        Family::Pick(values) => values.iter().map(node).collect(),
        Family::Weighted(weighted) => {
            weighted.pairs().map(|(value, weight)| format!("{}: {weight}", node(value))).collect()
        }
        Family::Json(json) => json
            .members()
            .map(|member| format!("{}: {}", label(&member.name), node(&member.value)))
            .collect(),
        Family::Polygon(polygon) => {
            let (hits, points) = polygon.arguments();
            vec![format!("hits={}", notation::real(hits)), format!("points={points}")]
        }
        Family::Null(null) => vec![notation::real(null.probability), node(&null.value)],
        Family::Csv(csv) => {
            let (file, column) = csv.arguments();
            let column = match column {
                Column::Number(number) => number.to_string(),
                Column::Name(name) => notation::quoted(name),
            };
            vec![notation::quoted(file), column]
        }
    };
    out.push_str(&format!("{}({})", family.spec().name, arguments.join(", ")));
}

fn uniform_ends(uniform: &Uniform<Node>, node: impl Fn(&Node) -> String) -> Vec<String> {
    match uniform {
        Uniform::Ints(range) => ends(range.ends()),
        Uniform::Durations(range) => {
            let (lo, hi) = range.ends();
            vec![notation::duration(lo), notation::duration(hi)]
        }
        Uniform::Reals(lo, hi) => vec![notation::real(*lo), notation::real(*hi)],
        Uniform::Computed(both) => vec![node(&both.0), node(&both.1)],
    }
}

fn ends((lo, hi): (i64, i64)) -> Vec<String> {
    vec![lo.to_string(), hi.to_string()]
}

/// Returns the name of a member as it is written before a colon.
fn label(name: &str) -> String {
    if is_name(name) { name.to_owned() } else { notation::quoted(name) }
}
