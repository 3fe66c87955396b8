import { S3Error } from '../errors/s3-error.ts';

export const maxSkewMs = 15 * 60 * 1000;

const isoBasic = /^\d{8}T\d{6}Z$/;
const rfc1123 =
  /^(?:[A-Za-z]{3,9}, ?)?(\d{1,2})[ -]([A-Za-z]{3})[ -](\d{4}) (\d{2}):(\d{2}):(\d{2}) (?:GMT|UTC|UT|Z|([+-])(\d{2}):?(\d{2}))$/;
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** Milliseconds of `YYYYMMDDTHHMMSSZ`, or undefined. */
export function parseIsoBasic(text: string): number | undefined {
  if (!isoBasic.test(text)) return undefined;
  const number = (from: number, to: number): number => Number(text.slice(from, to));
  const [month, day] = [number(4, 6), number(6, 8)];
  const [hour, minute, second] = [number(9, 11), number(11, 13), number(13, 15)];
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 59)
    return undefined;
  return Date.UTC(number(0, 4), month - 1, day, hour, minute, second);
}

/** Milliseconds of an RFC 1123 date with a zone name or a numeric zone, or undefined. */
export function parseHttpDate(text: string): number | undefined {
  const match = rfc1123.exec(text);
  if (match === null) return undefined;
  const month = months.indexOf((match[2] ?? '').toLowerCase());
  if (month < 0) return undefined;
  const [day, year, hour, minute, second] = [match[1], match[3], match[4], match[5], match[6]].map(Number);
  const time = Date.UTC(year ?? 0, month, day, hour, minute, second);
  if (Number.isNaN(time)) return undefined;
  const offsetMinutes = Number(match[8] ?? 0) * 60 + Number(match[9] ?? 0);
  return time - (match[7] === '-' ? -offsetMinutes : offsetMinutes) * 60_000;
}

/** Refuses a header-signed request that is more than 15 minutes away from our clock. */
export function checkSkew(time: number, now: number): void {
  if (Math.abs(now - time) <= maxSkewMs) return;
  // Clients set their clock by this answer.
  throw new S3Error('RequestTimeTooSkewed', undefined, {
    elements: [
      ['RequestTime', new Date(time).toISOString()],
      ['ServerTime', new Date(now).toISOString()],
      ['MaxAllowedSkewMilliseconds', String(maxSkewMs)],
    ],
  });
}

export function checkNotFuture(time: number, now: number): void {
  if (time - now > maxSkewMs) throw new S3Error('AccessDenied', 'Request is not valid yet');
}

export function checkNotExpired(expiry: number, now: number): void {
  if (now > expiry) throw new S3Error('AccessDenied', 'Request has expired');
}
