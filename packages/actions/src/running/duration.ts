import { ConstructionError } from './errors.ts';

const milliseconds: Record<string, number> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const whole = /^([+-])?((?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/;
const part = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g;

/** `1m30s` in milliseconds. Throws `ConstructionError`. */
export function parseDuration(text: string): number {
  if (/^[+-]?0$/.test(text)) return 0;
  const found = whole.exec(text);
  if (found === null) throw new ConstructionError(`time: invalid duration ${JSON.stringify(text)}`);
  const sum = [...text.matchAll(part)].reduce(
    (total, [, count, unit]) => total + Number(count) * (milliseconds[unit ?? ''] ?? 0),
    0,
  );
  return found[1] === '-' ? -sum : sum;
}

/** A duration in words of the same kind, for logs. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Number(ms.toFixed(3))}ms`;
  const minutes = Math.floor(ms / 60_000);
  const seconds = `${Number(((ms % 60_000) / 1000).toFixed(3))}s`;
  return minutes === 0 ? seconds : `${minutes}m${seconds}`;
}
