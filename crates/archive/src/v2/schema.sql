-- Version 2 of the record: an experiment of several runs. The tables of version 1 with the number
-- of the run, and the tables of the experiment. SQLite keeps the text of every statement, comments
-- included.

CREATE TABLE experiment (
    -- Facts about the whole experiment, one per row. docs/record.md lists the keys.
    key text primary key not null,
    value not null
) without rowid;

CREATE TABLE run (
    -- The runs, in the order in which they were made.
    run integer primary key not null,   -- from 1
    round integer not null,             -- from 0
    position integer not null,          -- place in the round, from 0
    arm text not null,
    point text,                         -- null: the experiment varies nothing
    phase text not null,                -- compare, sweep, saturate, capacity
    attempt integer not null,           -- of the round: 0, and 1 or 2 after a failed instrument
    state text not null,                -- counts, repeated, abandoned
    verdict text not null,              -- valid, suspect, invalid
    objections text not null,           -- names of the checks that object, with commas
    seed integer not null               -- of schedule and values
);

CREATE TABLE figure (
    -- Metrics of the runs, by which arms are compared.
    run integer not null,
    job text not null,                  -- job or table; empty for the whole run
    metric text not null,
    value real not null,
    primary key (run, job, metric)
) without rowid;

CREATE TABLE look (
    -- The looks that were taken.
    pairs integer primary key not null,
    decided integer not null            -- 1: every bet was decided, and the experiment ended
);

CREATE TABLE note (
    note integer primary key not null,
    at_ns integer not null,             -- since 1970-01-01 00:00:00 UTC
    text text not null
);

CREATE TABLE file (
    -- Files that were read before the runs, which share them.
    path text primary key not null,     -- from the folder of the first file, or absolute
    bytes integer not null,
    sha256 text not null,               -- of the content, in hexadecimal
    text text                           -- null: larger than 1 MB, not UTF-8, or with a password
) without rowid;

CREATE TABLE meta (
    -- Facts about the whole run, one per row. docs/record.md lists the keys.
    run integer not null,
    key text not null,
    value not null,
    primary key (run, key)
) without rowid;

CREATE TABLE job (
    run integer not null,
    job integer not null,               -- place in the plan, from 0
    name text not null,
    model text not null,                -- open, queue, partly-open, closed, timetable, replay
    arrival text,                       -- poisson, uniform; null without an arrival process
    offered_per_s real,                 -- null where requests are not offered at a rate
    connections_asked integer,          -- null: as many as it takes
    primary key (run, job)
) without rowid;

CREATE TABLE account (
    -- The rows of `job` that are no whole jobs. The first records have no such table.
    run integer not null,
    job integer not null,
    kind text not null,                 -- part (of a mix), node (a job at one of several servers)
    of_job integer not null,            -- the mix, or the job
    name text not null,                 -- the section of the part, or the address of the server
    primary key (run, job)
) without rowid;

CREATE TABLE statement (
    run integer not null,
    job integer not null,
    place integer not null,             -- from 1: statement 1 has the histograms `statement-1`
    text text not null,
    primary key (run, job, place)
) without rowid;

CREATE TABLE interval (
    -- One job in one second. All but `ended_…` is counted in the second of a request's intended
    -- start, however late its answer came; `ended_…` is counted in the second of its end.
    run integer not null,
    job integer not null,
    interval integer not null,          -- from 0 at time zero
    start_s real not null,              -- after time zero
    length_s real not null,             -- 1, but for a shorter first one
    arrivals integer not null,          -- requests that came due; those without an outcome are
                                        -- arrivals - completed - errors - rejected - unsent
    completed integer not null,
    errors integer not null,            -- timeouts and accepted errors included
    rejected integer not null,          -- the queue was full
    unsent integer not null,            -- still waiting when the run ended
    timeouts integer not null,
    accepted_errors integer not null,
    retries integer not null,
    rows integer not null,
    bytes_sent integer not null,
    bytes_received integer not null,
    busy_waits integer not null,
    overflows integer not null,         -- times beyond an hour
    ended_completed integer not null,
    ended_errors integer not null,
    ended_rows integer not null,
    in_flight integer,                  -- at the end of the second; null where it is not known
    queued integer,
    connections integer,
    primary key (run, job, interval)
) without rowid;

CREATE TABLE histogram (
    -- Times of the requests that were meant to start in one second (in more, in a long run).
    run integer not null,
    job integer not null,
    kind text not null,                 -- response, service, wait, send-lag, error, statement-1, …
    interval integer not null,          -- the first one
    start_s real not null,              -- after time zero
    length_s real not null,
    count integer not null,             -- how many times it holds
    max_ns integer not null,
    v2 blob not null,                   -- HdrHistogram V2, uncompressed, of nanoseconds
    primary key (run, job, kind, interval)
);

CREATE TABLE failure (
    -- Errors by the second of the intended start.
    run integer not null,
    job integer not null,
    interval integer not null,
    class text not null,
    code text not null,                 -- the database's own
    count integer not null,
    primary key (run, job, interval, class, code)
) without rowid;

CREATE TABLE event (
    run integer not null,
    event integer not null,             -- in the order in which they became known
    at_s real not null,                 -- after time zero
    job integer,                        -- null: about all of them
    kind text not null,
    text text not null,
    primary key (run, event)
) without rowid;

CREATE TABLE event_error (
    -- The errors that events report. The first records have no such table.
    run integer not null,
    event integer not null,
    class text not null,
    code text not null,                 -- the database's own
    primary key (run, event)
) without rowid;

CREATE TABLE client (
    -- The load generator's own process. Processor times count from the start of the process.
    run integer not null,
    client integer not null,
    at_s real not null,                 -- after time zero
    cpu_user_s real not null,
    cpu_system_s real not null,
    rss_bytes integer,                  -- null where the system does not tell
    peak_rss_bytes integer,
    threads integer,
    primary key (run, client)
) without rowid;

CREATE TABLE series (
    -- What was watched beside the requests. Records of before there were such have no table.
    run integer not null,
    series integer not null,
    component text not null,            -- host, generator, lane-0, …
    metric text not null,
    unit text not null,
    primary key (run, series)
) without rowid;

CREATE TABLE sample (
    -- What it was. Processor times grow from the start of a thread or of the host.
    run integer not null,
    series integer not null,
    at_s real not null,                 -- after time zero
    value real not null,
    primary key (run, series, at_s)
) without rowid;

CREATE TABLE sample_range (
    -- Extremes of the samples beyond two hours that one row of `sample` stands for. Earlier records
    -- have no such table, and no sum in `seal`.
    run integer not null,
    series integer not null,
    at_s real not null,                 -- that of the row
    samples integer not null,           -- how many it stands for
    least real not null,                -- of a counter: of its growth per second
    most real not null,
    primary key (run, series, at_s)
) without rowid;

CREATE TABLE setting (
    -- Settings of the server and facts about the surroundings.
    run integer not null,
    name text not null,
    value text not null,
    primary key (run, name)
) without rowid;

CREATE TABLE excerpt (
    -- Small tables of text for readers. Earlier records have no such table, and no sum in `seal`.
    run integer not null,
    subject text not null,              -- a table, or a job or part
    kind text not null,                 -- columns, indexes, rows, unreadable; examples
    row integer not null,               -- from 1; row 0 has the titles
    place integer not null,             -- from 0
    value text,                         -- null is NULL; cut to 80 characters, statements to 400
    primary key (run, subject, kind, row, place)
) without rowid;

CREATE TABLE load (
    -- Tables that were filled before time zero.
    run integer not null,
    table_name text not null,
    started_ns integer not null,        -- since 1970-01-01 00:00:00 UTC
    length_s real not null,
    rows integer not null,
    bytes integer not null,
    primary key (run, table_name)
) without rowid;

CREATE TABLE load_progress (
    -- How far a load was, once in every second of it; all but `second` counts from its start.
    run integer not null,
    table_name text not null,
    second integer not null,
    at_s real not null,
    rows integer not null,
    bytes integer not null,
    cpu_user_s real,                    -- of the load generator since the start of its process
    cpu_system_s real,
    primary key (run, table_name, second)
) without rowid;

CREATE TABLE load_sample (
    -- What was watched while a table was filled. The first records have no such table.
    run integer not null,
    table_name text not null,
    series integer not null,
    at_s real not null,                 -- since the load began
    value real not null,
    primary key (run, table_name, series, at_s)
) without rowid;

CREATE TABLE seal (
    -- What the rows add up to, written when the run has ended: a record with a lost row shows.
    run integer not null,
    what text not null,                 -- `rows of …`, or a column of `interval`
    job integer not null,               -- -1: all of them
    total integer not null,
    primary key (run, what, job)
) without rowid;
