/** Snapshot ids have 63 bits: what a number cannot hold is kept as a bigint. */
export type Json = null | boolean | number | bigint | string | Json[] | JsonObject;
export interface JsonObject {
  [name: string]: Json | undefined;
}

/** Newer than the library that types the program. */
interface RawJson {
  parse(text: string, reviver: (name: string, value: unknown, context: { source?: string }) => unknown): Json;
  rawJSON(text: string): unknown;
}
const raw = JSON as unknown as RawJson;

/** Deeper than any schema. */
const maxDepth = 200;

/** Throws a SyntaxError. Whole numbers keep their value, however large. */
export function parseJson(text: string): Json {
  checkDepth(text);
  return raw.parse(text, (_name, value, { source }) => {
    if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
    return source !== undefined && /^-?\d{1,20}$/.test(source) ? BigInt(source) : value;
  });
}

export function writeJson(value: Json | object): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    typeof part === 'bigint' ? raw.rawJSON(part.toString()) : part,
  );
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether both say the same, in whatever order their fields stand. */
export function sameJson(one: unknown, other: unknown): boolean {
  if (Array.isArray(one)) {
    return (
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((item, at) => sameJson(item, other[at]))
    );
  }
  if (!isObject(one)) return one === other;
  if (!isObject(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && sameJson(one[name], other[name]))
  );
}

function checkDepth(text: string): void {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22:
        for (at++; at < text.length && text.charCodeAt(at) !== 0x22; at++) {
          if (text.charCodeAt(at) === 0x5c) at++;
        }
        break;
      case 0x5b:
      case 0x7b:
        if (++depth > maxDepth) throw new SyntaxError(`nested deeper than ${maxDepth} levels`);
        break;
      case 0x5d:
      case 0x7d:
        depth--;
        break;
      default:
    }
  }
}
