// Reads a histogram log with HdrHistogram's own reader for JavaScript, merges the histograms of
// each tag, and prints what they hold as JSON.
//
//     node read.mjs RUN.hlog

import { readFileSync } from "node:fs";
import hdr from "hdr-histogram-js";

const reader = new hdr.HistogramLogReader(readFileSync(process.argv[2], "utf8"), 64);
const tags = new Map();
for (let slice = reader.nextIntervalHistogram(); slice; slice = reader.nextIntervalHistogram()) {
  const seen = tags.get(slice.tag);
  if (seen) {
    seen.rows += 1;
    seen.end_ms = slice.endTimeStampMsec;
    seen.merged.add(slice);
  } else {
    tags.set(slice.tag, {
      rows: 1,
      start_ms: slice.startTimeStampMsec,
      end_ms: slice.endTimeStampMsec,
      merged: slice,
    });
  }
}

const quantiles = [50, 90, 99, 99.9, 100];
const found = [...tags].map(([tag, { merged, ...seen }]) => ({
  tag,
  ...seen,
  count: merged.totalCount,
  quantiles: quantiles.map((percent) => merged.getValueAtPercentile(percent)),
}));
console.log(JSON.stringify(found));
