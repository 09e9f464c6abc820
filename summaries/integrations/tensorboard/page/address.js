// Addresses: the page of a run and what is chosen on it, in the frame's own hash and in TensorBoard's, for deep links.

const OURS = "gradledger";
const KEY = "p.gradledger.at"; // as TensorBoard names what belongs to a plugin

/** A name as a part of an address. Bytes that are not UTF-8 come as lone surrogates, which only this can encode. */
export function encoded(name) {
  return Array.from(name, (character) => {
    const code = character.codePointAt(0);
    if (code >= 0xdc80 && code <= 0xdcff) return `%${(code - 0xdc00).toString(16).toUpperCase()}`;
    return code >= 0xd800 && code <= 0xdfff ? "%EF%BF%BD" : encodeURIComponent(character);
  }).join("");
}

/** The address of a view: at("run", name, "layers", {kind}) is #/run/<name>/layers?kind=<kind>. */
export function at(view, name, page = "", chosen = {}) {
  const query = Object.entries(chosen).filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([key, value]) => `${key}=${encoded(String(value))}`).join("&");
  return `#/${[view, encoded(name), page].filter(Boolean).join("/")}${query ? `?${query}` : ""}`;
}

/** The parts of the frame's address: {view, name, page, chosen}; names stay encoded, choices do not. */
export function here() {
  const [path, query = ""] = location.hash.slice(2).split("?");
  const [view = "", name = "", page = ""] = path.split("/");
  const chosen = Object.fromEntries(query.split("&").filter(Boolean).map((part) => {
    const [key, value = ""] = part.split("=");
    return [key, decoded(value)];
  }));
  return { view, name, page, chosen };
}

function decoded(text) {
  try { return decodeURIComponent(text); } catch { return text; } // bytes that are no UTF-8: compare it encoded
}

/** Change what the address says of the view, without going anywhere. */
export function replaceAddress(hash) {
  if (location.hash === hash) return;
  history.replaceState(history.state, "", hash);
  tellTensorBoard();
}

/** The address that TensorBoard was opened with for us. */
export function given() {
  const part = outer()?.location.hash.slice(1).split("&").find((one) => one.startsWith(`${KEY}=`));
  return part ? decoded(part.slice(KEY.length + 1)) : "";
}

/** Put our address into TensorBoard's, if it shows us. */
export function tellTensorBoard() {
  const top = outer();
  const [shown, ...parts] = top?.location.hash.slice(1).split("&") ?? [];
  if (shown !== OURS) return;
  const others = parts.filter((part) => !part.startsWith(`${KEY}=`));
  const own = location.hash.length > 2 ? [`${KEY}=${encodeURIComponent(location.hash)}`] : [];
  top.history.replaceState(top.history.state, "", `#${[OURS, ...others, ...own].join("&")}`);
}

/** TensorBoard's window; null if the page stands alone, or belongs to somebody else. */
export function outer() {
  try { return parent !== window && parent.document ? parent : null; } catch { return null; }
}
