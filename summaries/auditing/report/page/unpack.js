// The blocks that packed.py describes.

/** @import { Column, Entry, PackedRun, Run } from "./types.js" */

const ARRAYS = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array, f8: Float64Array };

/** The body of a block that a page contains as text. @type {(text: string) => Promise<ArrayBuffer>} */
export async function inflated(text) {
  const packed = atob(text);
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
}

/**
 * The header of a body, and a function that reads the array of an entry in it.
 * @template [Header=any]
 * @param {ArrayBuffer} body
 * @returns {{ header: Header, read: (entry: Entry) => Column }}
 */
export function opened(body) {
  const arraysAt = 4 + new DataView(body).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(body, 4, arraysAt - 4)));
  return { header, read: ([type, offset, count]) => new ARRAYS[type](body, arraysAt + offset, count) };
}

/** The run in a body. @type {(body: ArrayBuffer) => Run} */
export function unpacked(body) {
  /** @type {{ header: PackedRun, read: (entry: Entry) => Column }} */
  const { header, read } = opened(body);
  const curves = header.curves.map((curve) => {
    const [first, ...differences] = curve.step;
    const [low, height, ...distances] = curve.seconds;
    return {
      ...curve,
      step: rising(first, read(differences)),
      seconds: even(low, height, read(distances)),
      value: read(curve.value),
    };
  });
  return { ...header, curves };
}

/**
 * A column that was written as its first value and differences.
 * @type {(first: number | null, differences: Column) => Column}
 */
export function rising(first, differences) {
  if (first === null) return differences;
  let value = first;
  return Float64Array.from(differences, (difference) => {
    value += difference;
    return value;
  });
}

/**
 * A column that was written as differences between levels, which wrap around.
 * @type {(low: number | null, height: number | null, distances: Column) => Column}
 */
function even(low, height, distances) {
  if (low === null || height === null) return distances;
  let level = 0;
  return Float64Array.from(distances, (distance) => {
    level = (level + distance) & 0xffff;
    return low + height * level;
  });
}
