# Every goal first installs what it needs. On a new machine, `make demo` or `make test` is enough to
# start.

# The folder of cargo: a shell that was started before rustup was installed does not search it.
export PATH := $(HOME)/.cargo/bin:$(PATH)

# Builds in CI are used once, so incremental compilation would only cost time. Failures are found by
# their messages, without line tables. Fewer codegen units take less processor time.
ifdef CI
export CARGO_INCREMENTAL := 0
export CARGO_PROFILE_DEV_DEBUG := none
export CARGO_PROFILE_DEV_CODEGEN_UNITS := 4
endif

ASSAY := target/release/assay

.PHONY: demo build dist test installed compiled lint tidy clippy documented gated gate demonstrated pages browser bench limiter selftest-full fuzz test-servers clean

demo: build
	@scripts/demo $(ASSAY)

build:
	@scripts/setup build
	cargo build --release --locked

# The files of a release: the program, its line tables, and checksums.
DIST := target/dist-files
dist:
	@scripts/setup build
	cargo build --profile dist --locked
	rm -rf $(DIST)
	mkdir -p $(DIST)
	objcopy --only-keep-debug target/dist/assay $(DIST)/assay.debug
	objcopy --strip-all target/dist/assay $(DIST)/assay
	cd $(DIST) && objcopy --add-gnu-debuglink=assay.debug assay && sha256sum assay assay.debug >SHA256SUMS
	ls -l $(DIST)

# The release build and the lints that compile run at the same time as the tests, with the processor
# time that the tests leave. They run side by side, because the last minutes of the build use a
# single processor. The gates, the demo and the browser each use less than a processor, and leave
# the rest to the documentation.
test:
	@scripts/setup build
	$(MAKE) -j 2 installed compiled
	$(MAKE) tidy
	target/debug/xtask test $(MAKE) -j 2 -O gated clippy pages
	$(MAKE) -j 3 -O browser gate documented demonstrated

# The packages for the tests are installed while the tests compile: on a new machine, the
# installation waits minutes for the network and the disk.
installed:
	@scripts/setup test

compiled:
	cargo test --workspace --locked --no-run --quiet

lint: installed
	$(MAKE) tidy clippy documented

# Checks that take seconds.
tidy:
	cargo fmt --all --check
	cargo build --locked -q --workspace --bin xtask
	target/debug/xtask tidy
	target/tools/cargo-deny/bin/cargo-deny --log-level error --locked check --hide-inclusion-graph licenses bans sources

# The features of the lints and of the documentation. With the same ones, both share the checks of
# nearly all dependencies. The fuzz targets are only checked. Without CUSTOM_LIBFUZZER_PATH,
# libFuzzer itself would be built.
FEATURES := --features fuzz/libfuzzer,driver/servers
clippy documented: export CUSTOM_LIBFUZZER_PATH := /none/libfuzzer.a

clippy:
	cargo clippy --workspace --all-targets $(FEATURES) --locked -- -D warnings

# The documentation of all items, whose links must lead somewhere. It has the lowest priority,
# because the browser and the gates are measured at the same time.
documented:
	RUSTDOCFLAGS="-D warnings" chrt --idle 0 \
		cargo doc --workspace --no-deps --document-private-items $(FEATURES) --locked

# Checks of the scripts of pages: types, lints, unit tests, and that the scripts in crates/report
# are those that `cd web && npm run build` makes.
pages:
	cd web && npm test --silent

# Tests of the pages of records in a browser, with the release build of the program. The example
# `observed` adds samples to the records; with `--workspace` it has the same features as in the
# tests, so it need not be compiled again.
browser:
	cargo build --locked -q --workspace --example observed
	cd web && npm run --silent browser ../$(ASSAY) ../target/debug/examples/observed

# The release builds that `gate` measures.
gated:
	cargo build --release --locked -p cli -p bench --bin assay --bin bench

# The demo with the program that is already built, once. Its exit codes 1 (SLO missed) and 3 (not
# VALID) are accepted: they mean that this machine is busy, and say nothing about the program.
demonstrated:
	scripts/demo $(ASSAY) 1 || case $$? in 1 | 3) ;; *) exit 1 ;; esac

# Compares the instructions per request and the size of the program with their limits. The limits
# allow for other programs that run at the same time.
gate:
	target/debug/xtask gate

# Takes hours: all cases run in turn, for 15 s each. The tables and the raw numbers of the
# comparison are written into the repository. The program is optimised as it is released. To run one
# part alone: `target/dist/compare rounds --only postgres,16,64`.
bench:
	@scripts/setup bench
	cargo build --profile dist --locked -p cli -p limit -p bench
	target/dist/bench
	target/dist/values
	for measure in rounds syscalls instructions open memory load; do \
		target/dist/compare $$measure --write || exit 1; \
	done

# Takes an hour on an otherwise idle machine: makes situations with a known limiter, and counts the
# limiters that are identified. The tables are written into the guide. To make a single situation:
# `target/release/limiter --only hot`. The situations with MySQL are included if `scripts/servers`
# has fetched MySQL.
MYSQLD := $(wildcard $(CURDIR)/target/servers/mysql/usr/sbin/mysqld)
limiter: export ASSAY_MYSQLD := $(or $(ASSAY_MYSQLD),$(MYSQLD))
limiter:
	@scripts/setup limiter
	cargo build --release --locked -p cli -p bench -p accuracy
	target/release/limiter --write

# Takes two and a half hours: counts the false alarms of the checks in a thousand valid runs, the
# faults that the checks notice, the intervals that contain the true value, and the errors of
# comparisons, of capacity searches, and of curves and histories. Then it makes a hundred runs and
# two capacity searches in real time, if the machine is otherwise idle.
selftest-full: installed
	cargo build --release --locked -p cli -p bench -p accuracy
	target/release/assay selftest --real
	target/release/trust; code=$$?; target/release/trust real && exit $$code

# Takes an hour for each of the 16 targets: coverage-guided fuzzing with a nightly toolchain and
# cargo-fuzz. New inputs are minimised and kept in fuzz/corpus. For a shorter run:
# `make fuzz SECONDS=300 TARGETS="workload script plan"`.
SECONDS ?= 3600
fuzz:
	scripts/fuzz $(SECONDS) $(TARGETS)

# Takes half an hour: runs the conformance suite and the example workloads on MySQL 9, MariaDB 11,
# PostgreSQL 18, the system's own servers, go-mysql-server and psql-wire, with and without TLS. To
# test one server: `scripts/test-servers target/release/assay mysql9`.
test-servers:
	@scripts/setup servers
	@scripts/servers
	cargo build --release --locked
	scripts/test-servers $(ASSAY)

clean:
	cargo clean
