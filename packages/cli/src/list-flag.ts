import { InvalidArgumentError } from 'commander';
import { UsageError } from './errors.ts';

/** Repeatable and comma-separated flags; a comma inside double quotes belongs to the value. */
export function collectList(value: string, previous: readonly string[] | undefined): string[] {
  return [...(previous ?? []), ...splitList(value)];
}

export function splitList(text: string): string[] {
  const items: string[] = [];
  let item = '';
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (character === '"') {
      if (quoted && text[at + 1] === '"') {
        item += '"';
        at += 1;
      } else quoted = !quoted;
    } else if (character === ',' && !quoted) {
      items.push(item);
      item = '';
    } else item += character;
  }
  items.push(item);
  return items;
}

/** `k=v` pairs; the first `=` splits. */
export function parsePairs(pairs: readonly string[] | undefined): Record<string, string> {
  const map: Record<string, string> = {};
  for (const pair of pairs ?? []) {
    const at = pair.indexOf('=');
    if (at < 0) throw new UsageError(`invalid key-value pair: ${pair} (expected key=value)`);
    map[pair.slice(0, at)] = pair.slice(at + 1);
  }
  return map;
}

export function wholeNumber(text: string): number {
  if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(Number(text)))
    throw new InvalidArgumentError('expected a whole number.');
  return Number(text);
}

export function positiveNumber(text: string): number {
  const value = wholeNumber(text);
  if (value < 1) throw new InvalidArgumentError('expected a whole number above 0.');
  return value;
}
