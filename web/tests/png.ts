// Small PNG files (ISO 15948) of screenshots: a palette of at most 256 colours instead of 3 or 4 bytes per pixel.

import { deflateSync, inflateSync } from "node:zlib";

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const TRUECOLOUR = 2;
const PALETTE = 3;
const TRUECOLOUR_ALPHA = 6;

/** Largest number of colours in a palette. */
const MOST = 256;

/** Pixels, row by row from the top. Each pixel is a colour, 0xRRGGBB. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly colours: Uint32Array;
}

/** Returns the checksum of a chunk (ISO 15948, annex D). */
function crc(bytes: Buffer): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  }
  return ~sum >>> 0;
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc(typed));
  return Buffer.concat([length, typed, sum]);
}

/** Returns the neighbour that predicts a byte best, the Paeth predictor (ISO 15948, 9.4). */
function paeth(left: number, above: number, corner: number): number {
  const estimate = left + above - corner;
  const [a, b, c] = [left, above, corner].map((value) => Math.abs(estimate - value)) as [number, number, number];
  if (a <= b && a <= c) return left;
  return b <= c ? above : corner;
}

/** Removes the filters of all rows. */
function unfiltered(data: Buffer, height: number, length: number, step: number): Buffer {
  const out = Buffer.alloc(height * length);
  for (let row = 0; row < height; row++) {
    const filter = data[row * (length + 1)] ?? 0;
    for (let at = 0; at < length; at++) {
      const place = row * length + at;
      const left = at < step ? 0 : (out[place - step] ?? 0);
      const above = row === 0 ? 0 : (out[place - length] ?? 0);
      const corner = at < step || row === 0 ? 0 : (out[place - length - step] ?? 0);
      const predicted = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter] ?? 0;
      out[place] = (data[row * (length + 1) + 1 + at] ?? 0) + predicted;
    }
  }
  return out;
}

/** Reads an opaque picture with eight bits per channel, as browsers make it, or a picture that `small` has made. */
export function pixels(png: Buffer): Pixels {
  const [width, height, type] = [png.readUInt32BE(16), png.readUInt32BE(20), png[25] ?? 0];
  const parts: Buffer[] = [];
  let palette = Buffer.alloc(0);
  for (let at = SIGNATURE.length; at < png.length; at += 12 + png.readUInt32BE(at)) {
    const data = png.subarray(at + 8, at + 8 + png.readUInt32BE(at));
    const name = png.toString("latin1", at + 4, at + 8);
    if (name === "IDAT") parts.push(data);
    if (name === "PLTE") palette = Buffer.from(data);
  }
  const step = new Map([
    [TRUECOLOUR, 3],
    [TRUECOLOUR_ALPHA, 4],
    [PALETTE, 1],
  ]).get(type);
  if (step === undefined || png[24] !== 8) throw new Error(`a picture of type ${type} with ${png[24]} bits`);
  const bytes = unfiltered(inflateSync(Buffer.concat(parts)), height, width * step, step);
  const colour = (at: number) =>
    type === PALETTE ? palette.readUIntBE(3 * (bytes[at] ?? 0), 3) : bytes.readUIntBE(at, 3);
  return { width, height, colours: Uint32Array.from({ length: width * height }, (_, place) => colour(place * step)) };
}

/** Returns the square of the distance between two colours. */
function distance(one: number, other: number): number {
  const [red, green, blue] = [
    (one >> 16) - (other >> 16),
    ((one >> 8) & 255) - ((other >> 8) & 255),
    (one & 255) - (other & 255),
  ];
  return red * red + green * green + blue * blue;
}

/** Returns at most 256 colours, and for each colour of the picture the index of the nearest one among them. */
function palette(counts: Map<number, number>): [number[], Map<number, number>] {
  const kept: number[] = [];
  const nearest = new Map([...counts.keys()].sort((one, other) => one - other).map((colour) => [colour, 0]));
  const errors = new Map([...counts.keys()].map((colour) => [colour, Number.POSITIVE_INFINITY]));
  // A colour of a few pixels that differs much from all others is as important as a shade of many pixels.
  const worth = (colour: number) => (counts.get(colour) ?? 0) * Math.min(errors.get(colour) ?? 0, 1e6);
  while (kept.length < MOST) {
    const next = [...nearest.keys()].reduce((best, colour) => (worth(colour) > worth(best) ? colour : best));
    if (errors.get(next) === 0) break;
    for (const colour of nearest.keys()) {
      const error = distance(colour, next);
      if (error >= (errors.get(colour) ?? 0)) continue;
      errors.set(colour, error);
      nearest.set(colour, kept.length);
    }
    kept.push(next);
  }
  return [kept, nearest];
}

/** Returns the picture with at most 256 of its colours; other pixels get the nearest of these. */
export function small({ width, height, colours }: Pixels): Buffer {
  const counts = new Map<number, number>();
  for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const [kept, places] = palette(counts);
  const rows = Buffer.alloc(height * (width + 1));
  colours.forEach((colour, at) => {
    rows[at + Math.floor(at / width) + 1] = places.get(colour) ?? 0;
  });
  const entries = Buffer.alloc(3 * kept.length);
  kept.forEach((colour, place) => {
    entries.writeUIntBE(colour, 3 * place, 3);
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width);
  header.writeUInt32BE(height, 4);
  header.set([8, PALETTE], 8);
  const data = deflateSync(rows, { level: 9 });
  const chunks = [chunk("IHDR", header), chunk("PLTE", entries), chunk("IDAT", data), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([SIGNATURE, ...chunks]);
}
