// Long names: those of runs, and paths of variables.

/**
 * A name of at most `most` characters: of a longer one, the middle is left out, because both runs and layers differ at
 * their ends. `head` is the share of what is left that stands before the gap.
 * @type {(name: string, most?: number, head?: number) => string}
 */
export function shortened(name, most = 56, head = 0.5) {
  if (name.length <= most) return name;
  const first = Math.ceil((most - 1) * head);
  return `${name.slice(0, first)}…${name.slice(name.length - (most - 1 - first))}`;
}

/**
 * Names without the parts of their paths that all of them start or end with.
 * @type {(names: string[]) => string[]}
 */
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
