// Formatting numbers for people.

const GROUPED = new Intl.NumberFormat("en-US");

/** A value in four significant digits: 0.03125, 1,250, 3.402e+38, NaN. */
export function number(value) {
  if (value === null || value === undefined) return "–";
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+∞" : "−∞";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e7) return GROUPED.format(value).replace("-", "−");
  const text = size >= 1e-4 && size < 1e5
    ? String(Number(value.toPrecision(4)))
    : value.toExponential(3).replace(/\.?0+e/, "e");
  return text.replaceAll("-", "−");
}

/** A whole number, with thousands separators. */
export function whole(value) {
  return GROUPED.format(value).replace("-", "−");
}

/** A tick of an axis: short. */
export function tick(value) {
  if (value === null) return "";
  const size = Math.abs(value);
  if (size >= 1e4 && size < 1e15) {
    const power = Math.min(Math.floor(Math.log10(size) / 3 + 1e-9), 4);
    return number(value / 1000 ** power) + ["", "k", "M", "G", "T"][power];
  }
  return size !== 0 && (size < 1e-3 || size >= 1e15)
    ? value.toExponential(1).replace(".0e", "e").replaceAll("-", "−") : number(value);
}

const UNITS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];

/** Seconds as their two largest units: 2 h 13 min. */
export function duration(seconds) {
  if (seconds === null || !Number.isFinite(seconds)) return "–";
  if (Math.abs(seconds) < 10) return `${number(Number(seconds.toFixed(2)))} s`;
  let left = Math.round(Math.abs(seconds));
  const parts = [];
  for (const [unit, size] of UNITS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) parts.push(`${count} ${unit}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return (seconds < 0 ? "−" : "") + parts.join(" ");
}

/** "steps 120 to 340", or "step 120". */
export function stepRange(steps) {
  return steps[0] === steps[1] ? `step ${whole(steps[0])}` : `steps ${whole(steps[0])} to ${whole(steps[1])}`;
}

/** "1 run", "3 runs". */
export function counted(count, noun) {
  return `${whole(count)} ${noun}${count === 1 ? "" : "s"}`;
}
