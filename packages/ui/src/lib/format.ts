const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];

/** `1536` as `1.5 KB`. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return unit === 0 ? `${value} B` : `${value.toFixed(1)} ${units[unit]}`;
}

export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

const steps: readonly (readonly [limit: number, seconds: number, unit: Intl.RelativeTimeFormatUnit])[] = [
  [60, 1, 'second'],
  [3600, 60, 'minute'],
  [86_400, 3600, 'hour'],
  [2_592_000, 86_400, 'day'],
  [31_536_000, 2_592_000, 'month'],
  [Number.POSITIVE_INFINITY, 31_536_000, 'year'],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** The Unix seconds of a time as the API writes it. */
export function secondsOf(dateTime: string): number {
  return Math.floor(Date.parse(dateTime) / 1000);
}

/** Unix seconds as `3 hours ago`. */
export function formatRelative(seconds: number, now = Date.now() / 1000): string {
  const past = Math.max(0, now - seconds);
  if (past < 5) return 'just now';
  for (const [limit, size, unit] of steps) {
    if (past < limit) return relative.format(-Math.floor(past / size), unit);
  }
  return '';
}

/** Unix seconds as `2026-11-15 13:05:09 UTC`, or in local time with its distance to UTC. */
export function formatTime(seconds: number, utc: boolean): string {
  const date = new Date(seconds * 1000);
  const offset = utc ? 0 : -date.getTimezoneOffset();
  const [day = '', time = ''] = new Date(date.getTime() + offset * 60_000).toISOString().split('T');
  const two = (value: number): string => String(value).padStart(2, '0');
  const zone = utc
    ? 'UTC'
    : `UTC${offset < 0 ? '−' : '+'}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`;
  return `${day} ${time.slice(0, 8)} ${zone}`;
}

export function shortId(id: string, length = 12): string {
  return /^[0-9a-f]{20,}$/.test(id) ? id.slice(0, length) : id;
}

/** The first line of a commit message. */
export function summaryOf(message: string): string {
  const line = message.split('\n', 1)[0] ?? '';
  return line === '' ? '(no message)' : line;
}
