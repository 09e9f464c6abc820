// Long names: those of runs, and paths of variables.

/**
 * A name of at most `most` characters: of a longer one, the middle is left out, because both runs and layers differ at
 * their ends. `share` is the share of what is left that stands before the gap.
 * @type {(name: string, most?: number, share?: number) => string}
 */
export function shortened(name, most = 56, share = 0.5) {
  if (name.length <= most) return name;
  const first = Math.ceil((most - 1) * share);
  const [head, tail] = [name.slice(0, first), name.slice(name.length - (most - 1 - first))];
  return `${isolated(head)}…${isolated(tail)}`;
}

/**
 * Names of at most `most` characters; of those that would look alike, layers of a network say, more of the end is left.
 * @type {(names: string[], most: number, share: number) => string[]}
 */
export function shortenedApart(names, most, share) {
  let made = names.map((name) => shortened(name, most, share));
  for (const less of [share / 2, 0]) {
    /** @type {Map<string, string | null>} null: several look like this */
    const whole = new Map();
    for (const [at, short] of made.entries()) {
      whole.set(short, (whole.get(short) ?? (whole.has(short) ? null : names[at])) === names[at] ? names[at] : null);
    }
    made = made.map((short, at) => (whole.get(short) === null ? shortened(names[at], most, less) : short));
  }
  return made;
}

const OWN_DIRECTION = /[\u0590-\u08ff\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc]/;

/**
 * A name with which more text stands in one piece: what it does to the direction of text, such as an override that it
 * does not close, ends with it.
 * @type {(name: string) => string}
 */
export function isolated(name) {
  if (!OWN_DIRECTION.test(name)) return name;
  const begun = (name.match(/[\u2066-\u2068]/g) ?? []).length;
  const ended = (name.match(/\u2069/g) ?? []).length;
  return "\u2068".repeat(1 + ended) + name + "\u2069".repeat(1 + begun + ended);
}

/** Names without the parts of their paths that all of them start or end with. @type {(names: string[]) => string[]} */
export function distinct(names) {
  if (names.length === 0) return [];
  const parts = names.map((name) => name.split("/"));
  const shortest = Math.min(...parts.map(({ length }) => length)) - 1;
  /** @param {number} at */
  const same = (at) => parts.every((part) => part.at(at) === parts[0].at(at));
  let head = 0;
  while (head < shortest && same(head)) head++;
  let tail = 0;
  while (tail < shortest - head && same(-1 - tail)) tail++;
  return parts.map((part) => part.slice(head, part.length - tail).join("/"));
}
