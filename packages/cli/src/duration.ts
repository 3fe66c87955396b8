const unitMilliseconds: Record<string, number> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** Milliseconds of a duration such as `300ms`, `2s` or `1h0m0s`; undefined for any other text. */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  const match = /^([-+]?)((?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+)$/.exec(text);
  if (match === null) return undefined;
  let total = 0;
  for (const [, amount, unit] of (match[2] ?? '').matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)) {
    total += Number(amount) * (unitMilliseconds[unit ?? ''] ?? 0);
  }
  return match[1] === '-' ? -total : total;
}
