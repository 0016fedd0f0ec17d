-- Version 1 of the record. SQLite keeps the text of every statement, comments included: the
-- command `.schema` of its shell prints this documentation out of any record.

CREATE TABLE meta (
    -- Facts about the whole run, one per row. docs/record.md lists the keys.
    key text primary key not null,
    value not null
) without rowid;

CREATE TABLE job (
    job integer primary key not null,   -- place in the plan, from 0
    name text not null,
    model text not null,                -- open, queue, partly-open, closed, timetable, replay
    arrival text,                       -- poisson, uniform; null without an arrival process
    offered_per_s real,                 -- null where requests are not offered at a rate
    connections_asked integer           -- null: as many as it takes
);

CREATE TABLE account (
    -- The rows of `job` that are no whole jobs. The first records have no such table.
    job integer primary key not null,
    kind text not null,                 -- part (of a mix), node (a job at one of several servers)
    of_job integer not null,            -- the mix, or the job
    name text not null                  -- the section of the part, or the address of the server
);

CREATE TABLE statement (
    job integer not null,
    place integer not null,             -- from 1: statement 1 has the histograms `statement-1`
    text text not null,
    primary key (job, place)
) without rowid;

CREATE TABLE interval (
    -- One job in one second. All but `ended_…` is counted in the second of a request's intended
    -- start, however late its answer came; `ended_…` is counted in the second of its end.
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
    primary key (job, interval)
) without rowid;

CREATE TABLE histogram (
    -- Times of the requests that were meant to start in one second (in more, in a long run).
    job integer not null,
    kind text not null,                 -- response, service, wait, send-lag, error, statement-1, …
    interval integer not null,          -- the first one
    start_s real not null,              -- after time zero
    length_s real not null,
    count integer not null,             -- how many times it holds
    max_ns integer not null,
    v2 blob not null,                   -- HdrHistogram V2, uncompressed, of nanoseconds
    primary key (job, kind, interval)
);

CREATE TABLE failure (
    -- Errors by the second of the intended start.
    job integer not null,
    interval integer not null,
    class text not null,
    code text not null,                 -- the database's own
    count integer not null,
    primary key (job, interval, class, code)
) without rowid;

CREATE TABLE event (
    event integer primary key not null, -- in the order in which they became known
    at_s real not null,                 -- after time zero
    job integer,                        -- null: about all of them
    kind text not null,
    text text not null
);

CREATE TABLE event_error (
    -- The errors that events report. The first records have no such table.
    event integer primary key not null,
    class text not null,
    code text not null                  -- the database's own
);

CREATE TABLE client (
    -- The load generator's own process. Processor times count from the start of the process.
    client integer primary key not null,
    at_s real not null,                 -- after time zero
    cpu_user_s real not null,
    cpu_system_s real not null,
    rss_bytes integer,                  -- null where the system does not tell
    peak_rss_bytes integer,
    threads integer
);

CREATE TABLE series (
    -- What was watched beside the requests. Records of before there were such have no table.
    series integer primary key not null,
    component text not null,            -- host, generator, lane-0, …
    metric text not null,
    unit text not null
);

CREATE TABLE sample (
    -- What it was. Processor times grow from the start of a thread or of the host.
    series integer not null,
    at_s real not null,                 -- after time zero
    value real not null,
    primary key (series, at_s)
) without rowid;

CREATE TABLE sample_range (
    -- Extremes of the samples beyond two hours that one row of `sample` stands for. Earlier records
    -- have no such table, and no sum in `seal`.
    series integer not null,
    at_s real not null,                 -- that of the row
    samples integer not null,           -- how many it stands for
    least real not null,                -- of a counter: of its growth per second
    most real not null,
    primary key (series, at_s)
) without rowid;

CREATE TABLE setting (
    -- Settings of the server and facts about the surroundings.
    name text primary key not null,
    value text not null
) without rowid;

CREATE TABLE file (
    -- Files that were read before the run. The first records have no such table.
    path text primary key not null,     -- from the folder of the first file, or absolute
    bytes integer not null,
    sha256 text not null,               -- of the content, in hexadecimal
    text text                           -- null: larger than 1 MB, not UTF-8, or with a password
) without rowid;

CREATE TABLE excerpt (
    -- Small tables of text for readers. Earlier records have no such table, and no sum in `seal`.
    subject text not null,              -- a table, or a job or part
    kind text not null,                 -- columns, indexes, rows, unreadable; examples
    row integer not null,               -- from 1; row 0 has the titles
    place integer not null,             -- from 0
    value text,                         -- null is NULL; cut to 80 characters, statements to 400
    primary key (subject, kind, row, place)
) without rowid;

CREATE TABLE load (
    -- Tables that were filled before time zero.
    table_name text primary key not null,
    started_ns integer not null,        -- since 1970-01-01 00:00:00 UTC
    length_s real not null,
    rows integer not null,
    bytes integer not null
) without rowid;

CREATE TABLE load_progress (
    -- How far a load was, once in every second of it; all but `second` counts from its start.
    table_name text not null,
    second integer not null,
    at_s real not null,
    rows integer not null,
    bytes integer not null,
    cpu_user_s real,                    -- of the load generator since the start of its process
    cpu_system_s real,
    primary key (table_name, second)
) without rowid;

CREATE TABLE load_sample (
    -- What was watched while a table was filled. The first records have no such table.
    table_name text not null,
    series integer not null,
    at_s real not null,                 -- since the load began
    value real not null,
    primary key (table_name, series, at_s)
) without rowid;

CREATE TABLE seal (
    -- What the rows add up to, written when the run has ended: a record with a lost row shows.
    what text not null,                 -- `rows of …`, or a column of `interval`
    job integer not null,               -- -1: all of them
    total integer not null,
    primary key (what, job)
) without rowid;

CREATE VIEW measured AS
-- The window: from the end of the warm-up to the end of the schedule; in the record of a killed
-- run to the end of what is known.
select
    fact.warmup_ns / 1e9 as start_s,
    coalesce(fact.ended_at_ns / 1e9, min(fact.duration_ns / 1e9, last.s), last.s) as end_s
from
    (select
        max(case key when 'warmup_ns' then value end) as warmup_ns,
        max(case key when 'duration_ns' then value end) as duration_ns,
        max(case key when 'ended_at_ns' then value end) as ended_at_ns
    from meta) fact,
    (select max(start_s + length_s) as s from interval) last;

CREATE VIEW rate AS
-- Every second of every job.
select
    job.name,
    start_s,
    arrivals / length_s as offered_per_s,
    ended_completed / length_s as achieved_per_s,
    ended_errors / length_s as errors_per_s,
    ended_rows / length_s as rows_per_s,
    in_flight,
    queued,
    connections
from interval join job using (job);

CREATE VIEW bucket AS
-- The histograms opened: how many times lie above the bucket before and at most at time_ns. The
-- bytes of the format are LEB128 numbers in zigzag code: n > 0 counts one bucket, n < 0 skips -n.
select
    histogram.job,
    histogram.kind,
    histogram.interval,
    histogram.start_s,
    cast(opened.key as integer) as time_ns,
    opened.value as count
from histogram, json_each((
    with recursive
    layout (digits) as (select case substr(histogram.v2, 16, 1) when x'03' then 10 else 7 end),
    step (at, byte, bits, shift, place) as (
        select 40, 128, 0, -7, 0
        union all
        select
            at + 1,
            instr('123456789ABCDEF', substr(hex(substr(histogram.v2, at + 1, 1)), 1, 1)) * 16
                + instr('123456789ABCDEF', substr(hex(substr(histogram.v2, at + 1, 1)), 2, 1)),
            case when byte < 128 then 0 else bits | ((byte & 127) << max(shift, 0)) end,
            case when byte < 128 then 0 else shift + 7 end,
            place + case
                when byte >= 128 then 0
                when ((bits | (byte << shift)) & 1) = 0 then 1
                else ((bits | (byte << shift)) >> 1) + 1
            end
        from step
        where at < length(histogram.v2)
    ),
    filled (place, power, count) as (
        select place, max((place >> digits) - 1, 0), (bits | (byte << shift)) >> 1
        from step, layout
        where byte < 128 and ((bits | (byte << shift)) & 1) = 0 and (bits | (byte << shift)) > 0
    )
    select json_group_object(
        cast(((place - (power << digits) + 1) << power) - 1 as text), count
    )
    from filled, layout
)) opened;

CREATE VIEW client_use AS
-- Cores that the load generator kept busy since the sample before.
select
    at_s,
    (cpu_user_s - lag(cpu_user_s) over samples) / (at_s - lag(at_s) over samples) as user_cores,
    (cpu_system_s - lag(cpu_system_s) over samples) / (at_s - lag(at_s) over samples)
        as system_cores,
    rss_bytes,
    threads
from client
window samples as (order by client);

CREATE VIEW load_rate AS
-- The speed of every load over the rows that its table held.
select
    table_name,
    at_s,
    rows,
    (rows - coalesce(lag(rows) over points, 0)) / (at_s - coalesce(lag(at_s) over points, 0))
        as rows_per_s,
    (cpu_user_s + cpu_system_s - lag(cpu_user_s + cpu_system_s) over points)
        / (at_s - lag(at_s) over points) as client_cores
from load_progress
window points as (partition by table_name order by second);
