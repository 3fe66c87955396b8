/** Deeper than anything in the contract. */
const maxDepth = 64;
/** A page of deletions or imports has thousands; every value costs the parser far more than its bytes. */
const maxValues = 50_000;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openings = { list: 0x5b, object: 0x7b } as const;
const closings = { list: 0x5d, object: 0x7d } as const;

/**
 * Why a body would cost too much to parse; undefined when it would not. Looking at each byte costs next to nothing,
 * while a few megabytes of brackets or of distinct names keep the parser and the collector busy for seconds.
 */
export function jsonCostProblem(bytes: Uint8Array): string | undefined {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at] as number) {
      case quote:
        at = endOfString(bytes, at + 1);
        break;
      case comma:
        values++;
        break;
      case openings.list:
      case openings.object:
        values++;
        if (++depth > maxDepth) return `nested deeper than ${maxDepth} levels`;
        break;
      case closings.list:
      case closings.object:
        depth--;
        break;
      default:
    }
    if (values > maxValues) return `more than ${maxValues} values`;
  }
  return undefined;
}

/** Where the closing quote stands, or the end of the bytes. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}
