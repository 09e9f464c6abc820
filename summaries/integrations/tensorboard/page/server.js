// Asking the server. What the addresses answer is written down in answers.py.

import { opened } from "../../../auditing/report/page/unpack.js";
import { query } from "./address.js";

const DATA = new URL("../data/", import.meta.url);
const PATIENCE = 400; // milliseconds between two questions for what is still being read

/**
 * What answers: the server, or a page that has its runs in it, which may be some of all: those at these `places`.
 * @typedef {(name: string, values: Record<string, unknown>, signal?: AbortSignal) => Promise<Response>} Answer
 * @type {{ saved: boolean, places: number[] | null, answer: Answer }}
 */
export const source = { saved: false, places: null, answer: fetched };

/** An error that the server explained. */
class Refused extends Error {}

/** A JSON answer. @type {(name: string, values?: Record<string, unknown>) => Promise<any>} */
export async function asked(name, values = {}) {
  return (await source.answer(name, values)).json();
}

/**
 * A binary answer, as it came.
 * @type {(name: string, values: Record<string, unknown>, signal?: AbortSignal) => Promise<ArrayBuffer>}
 */
export async function body(name, values, signal) {
  return (await source.answer(name, values, signal)).arrayBuffer();
}

/**
 * A binary answer, opened.
 * @template [Header=any]
 * @param {string} name
 * @param {Record<string, unknown>} values
 * @param {AbortSignal} [signal]
 * @returns {Promise<ReturnType<typeof opened<Header>>>}
 */
export async function arrays(name, values, signal) {
  return opened(await body(name, values, signal));
}

/** @type {Answer} */
async function fetched(name, values, signal) {
  const address = new URL(name, DATA);
  address.search = query(values);
  for (;;) {
    const response = await fetch(address, { signal });
    if (response.ok) return response;
    if (response.status !== 503) throw new Refused(await explained(response));
    await pause(PATIENCE);
  }
}

/** Wait for some milliseconds. @type {(time: number) => Promise<void>} */
export function pause(time) {
  return new Promise((resolve) => {
    setTimeout(resolve, time);
  });
}

/** @type {(response: Response) => Promise<string>} */
async function explained(response) {
  try {
    return (await response.json()).error;
  } catch {
    return `${response.status} ${response.statusText}`;
  }
}
