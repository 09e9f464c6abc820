// Answers that come late.

/**
 * For what takes time: the returned function begins it anew, and returns another, which says whether that is still the
 * latest time, so that a late answer to an old question changes nothing.
 * @type {() => () => () => boolean}
 */
export function onlyLatest() {
  let latest = 0;
  return () => {
    const mine = ++latest;
    return () => mine === latest;
  };
}
