// Addresses: the page of a run and what is chosen on it, in the frame's own hash and in TensorBoard's, for deep links.

/** @import { Chosen } from "./answers.js" */

const OURS = "gradledger";
const KEY = "p.gradledger.at"; // as TensorBoard names what belongs to a plugin

/**
 * A name as a part of an address. Bytes that are not UTF-8 come as lone surrogates, which only this can encode.
 * @type {(name: string) => string}
 */
export function encoded(name) {
  return Array.from(name, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code >= 0xdc80 && code <= 0xdcff) return `%${(code - 0xdc00).toString(16).toUpperCase()}`;
    return code >= 0xd800 && code <= 0xdfff ? "%EF%BF%BD" : encodeURIComponent(character);
  }).join("");
}

/**
 * Decode a part of an address; bytes that are no UTF-8 stay encoded, to be compared so.
 * @type {(text: string) => string}
 */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * A query from names and values, without those that are missing.
 * @type {(values: Record<string, unknown>) => string}
 */
export function query(values) {
  return Object.entries(values)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([key, value]) => `${key}=${encoded(String(value))}`)
    .join("&");
}

/**
 * The address of a view: addressOf("run", name, "layers", {kind}) is #/run/<name>/layers?kind=<kind>.
 * @type {(view: string, name: string, page?: string, chosen?: Record<string, unknown>) => string}
 */
export function addressOf(view, name, page = "", chosen = {}) {
  const path = [view, encoded(name), page].filter(Boolean).join("/");
  const told = Object.entries(chosen).filter(([, value]) => value !== "");
  return `#/${[path, query(Object.fromEntries(told))].filter(Boolean).join("?")}`;
}

/**
 * The parts of an address; names stay encoded, choices do not.
 * @type {(hash: string) => { view: string, name: string, page: string, chosen: Chosen }}
 */
export function parsed(hash) {
  const [path, after = ""] = hash.slice(2).split("?");
  const [view = "", name = "", page = ""] = path.split("/");
  const parts = after.split("&").filter(Boolean);
  const pairs = parts.map((part) => part.split("=")).map(([key, value = ""]) => [key, decoded(value)]);
  return { view, name, page, chosen: Object.fromEntries(pairs) };
}

/** The parts of the frame's address. */
export function here() {
  return parsed(location.hash);
}

/** Change what the address says of the view, without going anywhere. @type {(hash: string) => void} */
export function replaceAddress(hash) {
  if (location.hash === hash) return;
  history.replaceState(history.state, "", hash);
  tellTensorBoard();
}

/** The address that TensorBoard was opened with for us. */
export function deepLink() {
  const parts = tensorBoard()?.location.hash.slice(1).split("&") ?? [];
  const ours = parts.find((part) => part.startsWith(`${KEY}=`));
  return ours ? decoded(ours.slice(KEY.length + 1)) : "";
}

/** Put our address into TensorBoard's, if it shows us. */
export function tellTensorBoard() {
  const top = tensorBoard();
  const [shown, ...parts] = top?.location.hash.slice(1).split("&") ?? [];
  if (!top || shown !== OURS) return;
  const others = parts.filter((part) => !part.startsWith(`${KEY}=`));
  const own = location.hash.length > 2 ? [`${KEY}=${encodeURIComponent(location.hash)}`] : [];
  top.history.replaceState(top.history.state, "", `#${[OURS, ...others, ...own].join("&")}`);
}

/** TensorBoard's window; null if the page stands alone, or belongs to somebody else. */
export function tensorBoard() {
  try {
    return parent !== window && parent.document ? parent : null;
  } catch {
    return null;
  }
}
