import { SnappyArea, WorkBuffer } from '@svc/encoding';

const maxSpares = 64;
/** What a long scan has read ahead with, or a large value was decoded in, is not kept. */
const largestSpare = 64 * 1024;

/** The memory a cursor works in. Cursors for one page of a listing come and go by the thousand: it is used again. */
export class Workspace {
  key: Buffer = Buffer.allocUnsafeSlow(256);
  readonly decoded = new WorkBuffer(0);
  readonly stored = new WorkBuffer(0);
}

const spares: Workspace[] = [];

export function takeWorkspace(): Workspace {
  return spares.pop() ?? new Workspace();
}

export function giveBack(space: Workspace): void {
  const largest = Math.max(space.stored.bytes.length, space.decoded.bytes.length);
  if (spares.length < maxSpares && largest <= largestSpare) spares.push(space);
}

/** Of all lookups: each is over before the next begins, and memory of its own for every table would never be warm. */
let lookupSpace: { workspace: Workspace; area: SnappyArea } | undefined;

export function lookups(): { workspace: Workspace; area: SnappyArea } {
  return (lookupSpace ??= { workspace: new Workspace(), area: new SnappyArea() });
}
