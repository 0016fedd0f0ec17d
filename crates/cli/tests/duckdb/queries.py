"""Runs queries on an SQLite file in DuckDB, and prints their rows as JSON: queries.py FILE QUERY..."""

import decimal
import json
import pathlib
import sys

import duckdb

record, queries = sys.argv[1], sys.argv[2:]
# The package of the extension; DuckDB's own `install` would download it.
extension = next(pathlib.Path(duckdb.__file__).parents[1].glob("duckdb_extension_sqlite_scanner/**/*.duckdb_extension"))
database = duckdb.connect()
database.execute(f"load '{extension}'")
database.execute(f"attach '{record}' as experiment (type sqlite, read_only)")
database.execute("use experiment")


def plain(value):
    return float(value) if isinstance(value, (int, decimal.Decimal)) else value


rows = [[[plain(value) for value in row] for row in database.execute(query).fetchall()] for query in queries]
print(json.dumps(rows))
