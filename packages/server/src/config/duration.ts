const unitInMilliseconds: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const part = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g;
const whole = /^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/;

export function isDurationText(text: string): boolean {
  return text === '0' || whole.test(text);
}

/** Milliseconds of a text such as `1h30m`; the caller has checked it with `isDurationText`. */
export function parseDuration(text: string): number {
  let total = 0;
  for (const [, amount = '0', unit = 'ms'] of text.matchAll(part)) {
    total += Number(amount) * (unitInMilliseconds[unit] ?? 0);
  }
  return text.startsWith('-') ? -total : total;
}

/** `90000` → `1m30s`: the shortest exact spelling. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds === 0) return '0s';
  let rest = milliseconds;
  let text = '';
  for (const unit of ['h', 'm', 's', 'ms'] as const) {
    const size = unitInMilliseconds[unit] ?? 1;
    const count = Math.floor(rest / size + 1e-9);
    if (count === 0) continue;
    text += `${count}${unit}`;
    rest -= count * size;
  }
  const nanoseconds = Math.round(rest * 1e6);
  return nanoseconds > 0 ? `${text}${nanoseconds}ns` : text;
}
