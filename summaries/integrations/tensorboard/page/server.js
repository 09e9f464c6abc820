// Asking the server. What the addresses answer is written down in answers.py.

import { opened } from "./audit/unpack.js";
import { encoded } from "./address.js";

const DATA = new URL("../data/", import.meta.url);
const PATIENCE = 400; // milliseconds between two questions for what is still being read

/** An error that the server explained. */
export class Refused extends Error {}

/** A JSON answer. */
export async function asked(name, query = {}, signal = null) {
  return (await answer(name, query, signal)).json();
}

/** A binary answer, as it came. */
export async function body(name, query, signal = null) {
  return (await answer(name, query, signal)).arrayBuffer();
}

/** A binary answer, opened: {header, read}. */
export async function arrays(name, query, signal = null) {
  return opened(await body(name, query, signal));
}

async function answer(name, query, signal) {
  const address = new URL(name, DATA);
  address.search = Object.entries(query).filter(([, value]) => value !== null && value !== undefined)
    .map(([key, value]) => `${key}=${encoded(String(value))}`).join("&");
  for (;;) {
    const response = await fetch(address, { signal });
    if (response.ok) return response;
    if (response.status !== 503) throw new Refused(await explained(response));
    await new Promise((resolve) => { setTimeout(resolve, PATIENCE); });
  }
}

async function explained(response) {
  try { return (await response.json()).error; } catch { return `${response.status} ${response.statusText}`; }
}
