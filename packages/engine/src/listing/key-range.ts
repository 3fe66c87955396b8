import { keySuccessor, prefixSuccessor, startsWithBytes } from '@svc/encoding';

/** What a paged walk asks for. */
export interface Walk {
  readonly prefix: Buffer;
  readonly delimiter: Buffer | undefined;
  /** First key to look at; undefined when nothing can follow. */
  readonly start: Buffer | undefined;
}

/**
 * Where a page begins. After a common prefix everything below it is skipped; inside one it is shown again while a
 * key from there on lies below it; after a plain key the very next key may follow.
 */
export function planWalk(prefix: Buffer, after: Buffer, delimiter: Buffer | undefined): Walk {
  if (after.length === 0 || Buffer.compare(after, prefix) < 0) return { prefix, delimiter, start: prefix };
  const fold = startsWithBytes(after, prefix) ? foldEnd(after, { prefix, delimiter, start: prefix }) : -1;
  if (fold < 0) return { prefix, delimiter, start: keySuccessor(after) };
  return { prefix, delimiter, start: fold === after.length ? prefixSuccessor(after) : after };
}

/** End of the common prefix a key folds into, or -1 when it stands for itself. */
export function foldEnd(key: Buffer, walk: Walk, keyLength = key.length): number {
  const { delimiter } = walk;
  if (delimiter === undefined) return -1;
  // A single byte is found without leaving for native code.
  const at = key.indexOf(delimiter.length === 1 ? (delimiter[0] ?? 0) : delimiter, walk.prefix.length);
  const end = at + delimiter.length;
  return at < 0 || end > keyLength ? -1 : end;
}
