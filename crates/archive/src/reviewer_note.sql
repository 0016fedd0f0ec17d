CREATE TABLE reviewer_note (
    -- Notes that were added after the runs.
    note integer primary key,
    at_ns integer not null,             -- since 1970-01-01 00:00:00 UTC
    author text not null,
    text text not null
)
