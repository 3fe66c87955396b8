import { isIPv4, isIPv6 } from 'node:net';

/** An address as 16 bytes; IPv4 in its IPv6-mapped form, so that both spellings are equal. */
export function parseIp(text: string): Uint8Array | undefined {
  const address = text.includes('%') ? text.slice(0, text.indexOf('%')) : text;
  if (isIPv4(address)) return mapped(parseV4(address));
  if (!isIPv6(address)) return undefined;
  return parseV6(address);
}

export interface IpRange {
  readonly bytes: Uint8Array;
  /** Leading bits that must agree, of 128. */
  readonly bits: number;
}

/** An address or a CIDR block. */
export function parseIpRange(text: string): IpRange | undefined {
  const trimmed = text.trim();
  const slash = trimmed.indexOf('/');
  const bytes = parseIp(slash < 0 ? trimmed : trimmed.slice(0, slash));
  if (bytes === undefined) return undefined;
  if (slash < 0) return { bytes, bits: 128 };
  const digits = trimmed.slice(slash + 1);
  if (!/^\d{1,3}$/.test(digits)) return undefined;
  const isV4 = isIPv4(trimmed.slice(0, slash));
  const length = Number(digits);
  if (length > (isV4 ? 32 : 128)) return undefined;
  return { bytes, bits: isV4 ? length + 96 : length };
}

export function rangeContains(range: IpRange, address: Uint8Array): boolean {
  const whole = range.bits >> 3;
  for (let index = 0; index < whole; index++) {
    if (range.bytes[index] !== address[index]) return false;
  }
  const rest = range.bits & 7;
  if (rest === 0) return true;
  const mask = (0xff << (8 - rest)) & 0xff;
  return ((range.bytes[whole] ?? 0) & mask) === ((address[whole] ?? 0) & mask);
}

/** The text of an address as people write it: IPv4 for mapped addresses, no zone. */
export function plainIp(text: string): string {
  const address = text.includes('%') ? text.slice(0, text.indexOf('%')) : text;
  const dotted = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address);
  return dotted?.[1] ?? address;
}

function parseV4(text: string): number[] {
  return text.split('.').map(Number);
}

function mapped(v4: readonly number[]): Uint8Array {
  return Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, ...v4]);
}

function parseV6(text: string): Uint8Array {
  let source = text;
  const lastColon = source.lastIndexOf(':');
  if (source.includes('.')) {
    const [a = 0, b = 0, c = 0, d = 0] = parseV4(source.slice(lastColon + 1));
    source = `${source.slice(0, lastColon + 1)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  }
  const [head = '', tail] = source.split('::');
  const first = groups(head);
  const last = tail === undefined ? [] : groups(tail);
  const bytes = new Uint8Array(16);
  const write = (group: number, index: number) => {
    bytes[index * 2] = group >> 8;
    bytes[index * 2 + 1] = group & 0xff;
  };
  for (const [index, group] of first.entries()) write(group, index);
  for (const [index, group] of last.entries()) write(group, 8 - last.length + index);
  return bytes;
}

function groups(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}
