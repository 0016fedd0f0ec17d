#!/bin/sh
# Measures the cost of ten viewers of the page of a run: an experiment of nine minutes whose second
# arm has them. The experiment serves its own page, on the loopback.
# Usage: bench/viewers/run.sh ASSAY RECORD
set -eu
assay=$(realpath "$1")
record=$(realpath -m "$2")
cd "$(dirname "$0")"
trap 'rm -f progress.txt' EXIT
timeout 900 "$assay" run . --url 'sim:mm1?service=100us' --allow-commands --serve=127.0.0.1:0 \
    --out "$record" 2> progress.txt
