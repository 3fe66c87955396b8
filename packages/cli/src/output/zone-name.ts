/** Each variety of English abbreviates the zones its speakers live in and calls the others `GMT+3`. */
const varieties = ['en-US', 'en-GB', 'en-AU', 'en-ZA', 'en-IN', 'en-CA'];

const formats = new Map<string, Intl.DateTimeFormat>();

/** The abbreviation of a zone (`CET`, `PDT`), the local one when none is given; `GMT+9` where English has none. */
export function zoneName(date: Date, timeZone?: string): string {
  const names = varieties.values().map((variety) => nameIn(variety, date, timeZone));
  return names.find((name) => !/^GMT[+-]/.test(name)) ?? nameIn('en-US', date, timeZone);
}

function nameIn(variety: string, date: Date, timeZone: string | undefined): string {
  const key = `${variety} ${timeZone}`;
  let format = formats.get(key);
  if (format === undefined) {
    format = new Intl.DateTimeFormat(variety, { timeZoneName: 'short', timeZone });
    formats.set(key, format);
  }
  return format.formatToParts(date).find(({ type }) => type === 'timeZoneName')?.value ?? 'UTC';
}
