import type { ObjectStats } from '@svc/client';
import { compareUtf8 } from '@svc/encoding';

export type ChangeKind = 'added' | 'modified' | 'removed' | 'conflict';
export type Side = 'local' | 'remote';

/** A path that differs; `side` says which side changed it. */
export interface Change {
  readonly side: Side;
  readonly kind: ChangeKind;
  /** Relative to the root. */
  readonly path: string;
  /** The remote object, where it is known already. */
  readonly stats?: ObjectStats | undefined;
}

/** Both sides' changes by path; a path both sides changed is a conflict, whatever the content. */
export function mergeChanges(local: readonly Change[], remote: readonly Change[]): Change[] {
  const merged = new Map<string, Change>(local.map((change) => [change.path, change]));
  for (const change of remote) {
    const known = merged.has(change.path);
    merged.set(change.path, known ? { side: 'local', kind: 'conflict', path: change.path } : change);
  }
  return [...merged.values()].toSorted((a, b) => compareUtf8(a.path, b.path));
}

/** What must happen to the folder so that local changes are undone. */
export function undo(changes: readonly Change[]): Change[] {
  const opposite = {
    added: 'removed',
    removed: 'added',
    modified: 'modified',
    conflict: 'conflict',
  } as const;
  return changes.map(({ kind, path, stats }) => ({ side: 'remote', kind: opposite[kind], path, stats }));
}
