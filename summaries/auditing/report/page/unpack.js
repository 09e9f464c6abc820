// The blocks that packed.py describes.

const ARRAYS = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array, f8: Float64Array };

/** The body of a block that a page contains as text. */
export async function inflated(text) {
  const packed = atob(text);
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
}

/** The header of a body, and a function that reads the array of an entry in it. */
export function opened(body) {
  const arraysAt = 4 + new DataView(body).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(body, 4, arraysAt - 4)));
  return { header, read: ([type, offset, count]) => new ARRAYS[type](body, arraysAt + offset, count) };
}

/** The run in a body; each curve has the columns step, seconds (since the start of the run) and value. */
export function unpacked(body) {
  const { header: run, read } = opened(body);
  for (const curve of run.curves) {
    curve.step = rising(curve.step[0], read(curve.step.slice(1)));
    curve.seconds = even(...curve.seconds.slice(0, 2), read(curve.seconds.slice(2)));
    curve.value = read(curve.value);
  }
  return run;
}

/** A column that was written as its first value and differences. */
function rising(first, differences) {
  if (first === null) return differences;
  const values = new Float64Array(differences.length);
  let value = first;
  for (let i = 0; i < differences.length; i++) values[i] = value += differences[i];
  return values;
}

/** A column that was written as differences between levels, which wrap around. */
function even(low, height, distances) {
  if (height === null) return distances;
  const values = new Float64Array(distances.length);
  let level = 0;
  for (let i = 0; i < distances.length; i++) {
    level = (level + distances[i]) & 0xffff;
    values[i] = low + height * level;
  }
  return values;
}
