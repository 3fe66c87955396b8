import { commonPrefixLength } from '@svc/encoding';
import { recordTrailer, separatorTrailer } from './table-format.ts';

/** The index key between a block that ends with `last` and one that starts with `next`, as stored. */
export function separatorKey(last: Uint8Array, next: Uint8Array): Buffer {
  const shared = commonPrefixLength(last, next);
  const own = last[shared];
  const other = next[shared];
  if (own === undefined || other === undefined || own >= other) return withTrailer(last, recordTrailer);
  if (shared < next.length - 1 || own + 1 < other) return incremented(last, shared);
  for (let i = shared + 1; i < last.length; i++) {
    if (last[i] !== 0xff) return incremented(last, i);
  }
  return withTrailer(last, recordTrailer);
}

/** The index key of the last block, which ends with `last`. */
export function successorKey(last: Uint8Array): Buffer {
  for (let i = 0; i < last.length; i++) {
    if (last[i] !== 0xff) return incremented(last, i);
  }
  return withTrailer(last, recordTrailer);
}

function incremented(key: Uint8Array, at: number): Buffer {
  const separator = withTrailer(key.subarray(0, at + 1), separatorTrailer);
  separator[at] = (key[at] as number) + 1;
  return separator;
}

function withTrailer(key: Uint8Array, trailer: Buffer): Buffer {
  const stored = Buffer.allocUnsafe(key.length + trailer.length);
  stored.set(key);
  stored.set(trailer, key.length);
  return stored;
}
