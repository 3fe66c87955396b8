// Layouts are written as the reference moment Mon Jan 2 15:04:05 -0700 MST 2006 would be shown.

const tokens =
  /January|Monday|2006|-07:00|-0700|Z07:00|Z0700|MST|Jan|Mon|-07|15|PM|pm|01|02|03|04|05|06|_2|\.0+|\.9+|1|2|3|4|5/g;

const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

interface Moment {
  readonly date: Date;
  readonly offsetMinutes: number;
  readonly zoneName: string;
}

/** Whole seconds: a fraction prints as zeros. */
export function formatTime(nanos: number, layout: string, zone: string): string {
  const moment = momentIn(Math.floor(nanos / 1e9) * 1000, zone === '' ? 'UTC' : zone);
  return layout.replace(tokens, (token) => formatToken(token, moment));
}

function momentIn(ms: number, zone: string): Moment {
  const formats = (options: Intl.DateTimeFormatOptions): string => {
    try {
      const parts = new Intl.DateTimeFormat('en-US', { timeZone: zone, ...options }).formatToParts(ms);
      return parts.find((part) => part.type === 'timeZoneName')?.value ?? '';
    } catch {
      throw new TypeError(`unknown time zone ${zone}`);
    }
  };
  const found = /GMT(?:([+-])(\d\d):(\d\d))?/.exec(formats({ timeZoneName: 'longOffset' }));
  const minutes = Number(found?.[2] ?? 0) * 60 + Number(found?.[3] ?? 0);
  const offsetMinutes = found?.[1] === '-' ? -minutes : minutes;
  return {
    date: new Date(ms + offsetMinutes * 60_000),
    offsetMinutes,
    zoneName: formats({ timeZoneName: 'short' }),
  };
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

function offsetText(minutes: number, separator: string, withMinutes = true): string {
  const size = Math.abs(minutes);
  const end = withMinutes ? `${separator}${two(size % 60)}` : '';
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}${end}`;
}

function formatToken(token: string, { date, offsetMinutes, zoneName }: Moment): string {
  const hour = date.getUTCHours();
  const values: Record<string, string> = {
    '2006': String(date.getUTCFullYear()).padStart(4, '0'),
    '06': two(date.getUTCFullYear() % 100),
    '01': two(date.getUTCMonth() + 1),
    '1': String(date.getUTCMonth() + 1),
    Jan: (months[date.getUTCMonth()] ?? '').slice(0, 3),
    January: months[date.getUTCMonth()] ?? '',
    '02': two(date.getUTCDate()),
    '2': String(date.getUTCDate()),
    _2: String(date.getUTCDate()).padStart(2, ' '),
    Mon: (days[date.getUTCDay()] ?? '').slice(0, 3),
    Monday: days[date.getUTCDay()] ?? '',
    '15': two(hour),
    '03': two(hour % 12 || 12),
    '3': String(hour % 12 || 12),
    PM: hour < 12 ? 'AM' : 'PM',
    pm: hour < 12 ? 'am' : 'pm',
    '04': two(date.getUTCMinutes()),
    '4': String(date.getUTCMinutes()),
    '05': two(date.getUTCSeconds()),
    '5': String(date.getUTCSeconds()),
    MST: zoneName,
    '-0700': offsetText(offsetMinutes, ''),
    '-07:00': offsetText(offsetMinutes, ':'),
    '-07': offsetText(offsetMinutes, '', false),
    Z0700: offsetMinutes === 0 ? 'Z' : offsetText(offsetMinutes, ''),
    'Z07:00': offsetMinutes === 0 ? 'Z' : offsetText(offsetMinutes, ':'),
  };
  if (token.startsWith('.')) return token.includes('0') ? token : '';
  return values[token] ?? token;
}

const patterns: Record<string, string> = {
  '2006': '(\\d{4})',
  '06': '(\\d{2})',
  '01': '(\\d{2})',
  '1': '(\\d{1,2})',
  '02': '(\\d{2})',
  '2': '(\\d{1,2})',
  _2: '\\s?(\\d{1,2})',
  '15': '(\\d{2})',
  '03': '(\\d{2})',
  '3': '(\\d{1,2})',
  '04': '(\\d{2})',
  '4': '(\\d{1,2})',
  '05': '(\\d{2})',
  '5': '(\\d{1,2})',
  PM: '(AM|PM)',
  pm: '(am|pm)',
  MST: '([A-Z]{3,5})',
  '-0700': '([+-]\\d{4})',
  '-07:00': '([+-]\\d\\d:\\d\\d)',
  '-07': '([+-]\\d\\d)',
  Z0700: '(Z|[+-]\\d{4})',
  'Z07:00': '(Z|[+-]\\d\\d:\\d\\d)',
};

/** Nanoseconds since 1970. */
export function parseTime(layout: string, value: string): number {
  const names: string[] = [];
  let pattern = '';
  let at = 0;
  const literal = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  for (const found of layout.matchAll(tokens)) {
    const [token] = found;
    pattern += literal(layout.slice(at, found.index)) + patternOf(token);
    names.push(token);
    at = found.index + token.length;
  }
  const match = new RegExp(`^${pattern}${literal(layout.slice(at))}$`).exec(value);
  if (match === null)
    throw new TypeError(`cannot parse ${JSON.stringify(value)} as ${JSON.stringify(layout)}`);
  return nanosOf(new Map(names.map((name, index) => [name, match[index + 1] ?? ''])));
}

function patternOf(token: string): string {
  if (token.startsWith('.')) return '(\\.\\d+)?';
  if (token === 'Jan' || token === 'January') {
    return `(${months.map((name) => (token === 'Jan' ? name.slice(0, 3) : name)).join('|')})`;
  }
  if (token === 'Mon' || token === 'Monday') {
    return `(${days.map((name) => (token === 'Mon' ? name.slice(0, 3) : name)).join('|')})`;
  }
  return patterns[token] ?? '()';
}

function nanosOf(parts: ReadonlyMap<string, string>): number {
  const first = (...names: readonly string[]): string | undefined =>
    names.map((name) => parts.get(name)).find((text) => text !== undefined);
  const number = (byDefault: number, ...names: readonly string[]): number =>
    Number(first(...names) ?? byDefault);
  const shortYear = parts.get('06');
  const year =
    shortYear === undefined ? number(0, '2006') : Number(shortYear) + (Number(shortYear) < 69 ? 2000 : 1900);
  const monthName = first('Jan', 'January');
  const month =
    monthName === undefined
      ? number(1, '01', '1')
      : months.findIndex((name) => name.startsWith(monthName)) + 1;
  const half = first('PM', 'pm')?.toUpperCase();
  const twelve = number(0, '03', '3');
  const hour = half === undefined ? number(twelve, '15') : (twelve % 12) + (half === 'PM' ? 12 : 0);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, number(1, '02', '2', '_2'));
  date.setUTCHours(hour, number(0, '04', '4'), number(0, '05', '5'));
  const zone = first('-0700', '-07:00', '-07', 'Z0700', 'Z07:00') ?? 'Z';
  const sign = zone.startsWith('-') ? -1 : 1;
  const digits = zone.replaceAll(/\D/g, '');
  const offset = sign * (Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2, 4) || 0));
  const fraction = [...parts].find(([name]) => name.startsWith('.'))?.[1] ?? '';
  return (
    (date.getTime() - offset * 60_000) * 1e6 + (fraction === '' ? 0 : Math.round(Number(fraction) * 1e9))
  );
}
