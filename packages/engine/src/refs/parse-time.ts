/** When: an instant, so long before now, so many moves ago, or by the date of a commit. Times in microseconds. */
export type RefTime =
  | { readonly kind: 'instant'; readonly micros: number }
  | { readonly kind: 'ago'; readonly micros: number }
  | { readonly kind: 'moves'; readonly count: number }
  | { readonly kind: 'commit'; readonly micros: number };

export const timeForms =
  '@{2026-11-01T10:00:00Z} or @20261101T100000Z, @{2026-11-01} or @20261101, @{2 hours ago} or @2h, @{yesterday}, ' +
  '@{3} or @-3 (moves ago), @{commit 2026-11-01} or @c20261101';

const second = 1e6;
const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };
const ago = /^(\d{1,9}) +(second|minute|hour|day|week)s? +ago$/;
const wordy = /^(?:now|yesterday)$/;
const dashedDate = /^(\d{4})-(\d\d)-(\d\d)$/;
const dashedTime = /^(\d{4})-(\d\d)-(\d\d)t(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:z|([+-])(\d\d):(\d\d))?$/;
const plainTime = /^(\d{4})(\d\d)(\d\d)(?:t(\d\d)(\d\d)(\d\d)?z)?$/;

/** What stands between the braces of `@{…}`; undefined when it is no time. */
export function parseBracedTime(text: string): RefTime | undefined {
  const spec = text.toLowerCase();
  const instant = parseInstant(spec);
  if (instant !== undefined) return { kind: 'instant', micros: instant };
  if (/^\d{1,15}$/.test(spec)) return { kind: 'moves', count: Number(spec) };
  const relative = ago.exec(spec);
  if (relative !== null) return before(Number(relative[1]), (relative[2] ?? '').charAt(0));
  if (wordy.test(spec)) return word(spec);
  return spec.startsWith('commit ') ? commitTime(spec.slice('commit '.length).trimStart()) : undefined;
}

/** What follows an `@` without braces; undefined when it is no time. */
export function parseCompactTime(text: string): RefTime | undefined {
  const spec = text.toLowerCase();
  const instant = parseInstant(spec);
  if (instant !== undefined) return { kind: 'instant', micros: instant };
  const relative = /^(\d{1,9})([smhdw])$/.exec(spec);
  if (relative !== null) return before(Number(relative[1]), relative[2] ?? '');
  if (/^-\d{1,15}$/.test(spec)) return { kind: 'moves', count: Number(spec.slice(1)) };
  if (wordy.test(spec)) return word(spec);
  return spec.startsWith('c') ? commitTime(spec.slice(1)) : undefined;
}

function before(count: number, unit: string): RefTime {
  return { kind: 'ago', micros: count * (secondsOf[unit] ?? 0) * second };
}

function word(spec: string): RefTime {
  return spec === 'now' ? before(0, 's') : before(1, 'd');
}

function commitTime(spec: string): RefTime | undefined {
  const micros = parseInstant(spec);
  return micros === undefined ? undefined : { kind: 'commit', micros };
}

/** A lower-case instant; without a zone it is UTC. */
export function parseInstant(spec: string): number | undefined {
  const plain = plainTime.exec(spec) ?? dashedDate.exec(spec);
  if (plain !== null) return utc(plain.slice(1, 7));
  const dashed = dashedTime.exec(spec);
  if (dashed === null) return undefined;
  const micros = utc(dashed.slice(1, 7));
  const [fraction = '', sign, hours, minutes] = dashed.slice(7);
  if (micros === undefined || Number(hours ?? 0) > 23 || Number(minutes ?? 0) > 59) return undefined;
  const offset = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60 * second;
  // Digits, not a fraction: 0.000249 times a million is less than 249.
  const fractionMicros = Number(fraction.padEnd(6, '0').slice(0, 6));
  return micros + fractionMicros - (sign === '-' ? -offset : offset);
}

/** Undefined when there is no such day or hour. */
function utc(parts: readonly (string | undefined)[]): number | undefined {
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, seconds = 0] = parts.map((part) =>
    Number(part ?? 0),
  );
  if (hour > 23 || minute > 59 || seconds > 59) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, seconds);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  return date.getTime() * 1000;
}
