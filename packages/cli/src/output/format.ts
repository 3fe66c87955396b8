import { zoneName } from './zone-name.ts';

const units = ['kB', 'MB', 'GB', 'TB', 'PB', 'EB'];

/** Decimal units with one digit: `999 B`, `1.0 kB`. */
export function humanSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  let value = bytes;
  let unit = '';
  for (const next of units) {
    if (value < 999.95 && unit !== '') break;
    value /= 1000;
    unit = next;
  }
  return `${value.toFixed(1)} ${unit}`;
}

/** Unix seconds in the local zone: `2026-07-01 12:00:00 +0000 UTC`. */
export function formatDate(unixSeconds: number): string {
  const date = new Date(unixSeconds * 1000);
  const two = (value: number): string => String(Math.trunc(Math.abs(value))).padStart(2, '0');
  const day = `${String(date.getFullYear()).padStart(4, '0')}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  const offset = -date.getTimezoneOffset();
  const zone = `${offset < 0 ? '-' : '+'}${two(offset / 60)}${two(offset % 60)}`;
  return `${day} ${time} ${zone} ${zoneName(date)}`;
}
