const pattern =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** Milliseconds since 1970, or undefined when the text is not a time of RFC 3339. */
export function parseRfc3339(text: string): number | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute] = match.map(Number);
  // Date.parse turns February 30 into March 1; such a day is refused.
  const probe = new Date(Date.UTC(year ?? 0, (month ?? 0) - 1, day ?? 0));
  if (probe.getUTCMonth() + 1 !== month || (hour ?? 0) > 23 || (minute ?? 0) > 59) return undefined;
  const time = Date.parse(text.toUpperCase());
  return Number.isNaN(time) ? undefined : time;
}
