# Every goal sets up what it needs first. `make demo` and `make test` are all that a new machine
# needs.

# The folder of cargo, which a shell does not search if it was started before rustup was installed.
export PATH := $(HOME)/.cargo/bin:$(PATH)

# Builds in CI are used once: they keep nothing for a later build, and failures are found by their
# messages, without line tables. Fewer codegen units take less processor time.
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

# The release build and the compiling lints run alongside the tests and use the processor time that
# the tests leave. The build is first, because its last minutes use a single processor. The gates
# and the browser use one processor, and leave the other one to the documentation and to the demo.
test:
	@scripts/setup build
	$(MAKE) -j 2 installed compiled
	$(MAKE) tidy
	target/debug/xtask test $(MAKE) gated clippy pages
	$(MAKE) -j 2 -O gate documented
	$(MAKE) -j 2 -O browser demonstrated

# What the tests need is installed while they compile: on a new machine that takes minutes of waiting for the network
# and the disk.
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

# The fuzz targets are only checked; without that path libFuzzer itself would be built.
clippy:
	CUSTOM_LIBFUZZER_PATH=/none/libfuzzer.a \
		cargo clippy --workspace --all-targets --features fuzz/libfuzzer,driver/servers --locked -- -D warnings

# The documentation of all items, whose links must lead somewhere.
documented:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items --locked

# The scripts of pages: types, lints, unit tests, and the bytes in the tree. `cd web && npm run build` makes them.
pages:
	cd web && npm test --silent

# The pages of records in a browser, with the program as it is installed, and the samples of a week.
# With the features of the whole workspace, the example is the one that the tests have built.
browser:
	cargo build --locked -q --workspace --example observed
	cd web && npm run --silent browser ../$(ASSAY) ../target/debug/examples/observed

# The programs that the gates measure, as they are installed.
gated:
	cargo build --release --locked -p cli -p bench --bin assay --bin bench

# The demo with the program that is already built, once. Its exit codes 1 (SLO missed) and 3 (not
# VALID) are accepted: they mean that this machine is busy, and say nothing about the program.
demonstrated:
	scripts/demo $(ASSAY) 1 || case $$? in 1 | 3) ;; *) exit 1 ;; esac

# Instructions per request and the size of the program, against their limits. Beside other programs a
# request takes a hundredth more, as more of them wait.
gate:
	target/debug/xtask gate

# Hours: everything takes turns with everything else, for 15 s each. The tables and raw numbers of the comparison are
# written into the tree. One part alone: `target/release/compare rounds --only postgres,16,64`.
bench:
	@scripts/setup bench
	cargo build --release --locked -p cli -p limit -p bench
	target/release/bench
	target/release/values
	for measure in rounds syscalls instructions open memory load; do \
		target/release/compare $$measure --write || exit 1; \
	done

# An hour: makes situations with a known limiter, and counts the limiters that are identified. The
# machine should be idle otherwise. The tables are written into the guide. A single
# one: `target/release/limiter --only hot`. MySQL's own situations are there if `scripts/servers`
# has fetched it.
MYSQLD := $(wildcard $(CURDIR)/target/servers/mysql/usr/sbin/mysqld)
limiter: export ASSAY_MYSQLD := $(or $(ASSAY_MYSQLD),$(MYSQLD))
limiter:
	@scripts/setup limiter
	cargo build --release --locked -p cli -p bench -p accuracy
	target/release/limiter --write

# Two hours and a half: false alarms of the checks in a thousand valid runs, faults that they
# notice, intervals that hold the truth, errors of comparisons, of capacity searches, and of curves
# and histories; then a hundred runs and two capacity searches in real time, if the machine is idle
# otherwise.
selftest-full: installed
	cargo build --release --locked -p cli -p bench -p accuracy
	target/release/assay selftest --real
	target/release/trust; code=$$?; target/release/trust real && exit $$code

# An hour for each target, 15 in all: coverage-guided fuzzing with a nightly toolchain and
# cargo-fuzz. New inputs are minimised and kept in fuzz/corpus. Fewer: `make fuzz SECONDS=300
# TARGETS="workload script plan"`.
SECONDS ?= 3600
fuzz:
	scripts/fuzz $(SECONDS) $(TARGETS)

# Half an hour: the conformance suite and the example workloads on MySQL 9, MariaDB 11, PostgreSQL 18, the system's own
# servers, go-mysql-server and psql-wire, with and without TLS. One alone: `scripts/test-servers target/release/assay
# mysql9`.
test-servers:
	@scripts/setup servers
	@scripts/servers
	cargo build --release --locked
	scripts/test-servers $(ASSAY)

clean:
	cargo clean
