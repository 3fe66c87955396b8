import { compareUtf8 } from './paths.ts';

export interface ListedEntry {
  readonly path: string;
  readonly path_type: 'common_prefix' | 'object';
  readonly size_bytes?: number | undefined;
  readonly mtime?: number | undefined;
}

export interface ChangeEntry {
  readonly path: string;
  readonly path_type: 'common_prefix' | 'object';
  readonly type: 'added' | 'removed' | 'changed' | 'conflict' | 'prefix_changed';
  readonly size_bytes?: number | undefined;
}

export type Mark = 'added' | 'changed' | 'removed';

export interface MarkedEntry extends ListedEntry {
  readonly mark?: Mark | undefined;
}

/** The changes that a listing of a folder shows: of the objects in it, and one for each folder in it. */
export function changesIn(prefix: string, changes: readonly ChangeEntry[]): ChangeEntry[] {
  const shown: ChangeEntry[] = [];
  for (const change of changes) {
    if (!change.path.startsWith(prefix)) continue;
    const end = change.path.indexOf('/', prefix.length);
    if (end < 0) {
      shown.push(change);
      continue;
    }
    const folder = change.path.slice(0, end + 1);
    if (shown.at(-1)?.path !== folder) {
      shown.push({ path: folder, path_type: 'common_prefix', type: 'prefix_changed' });
    }
  }
  return shown;
}

function markOf(change: ChangeEntry): Mark {
  if (change.type === 'added' || change.type === 'removed') return change.type;
  return 'changed';
}

/**
 * One page of a listing with its uncommitted changes. Changes outside `(after, until]` belong to another page, so
 * that a removed object is shown exactly once, where it was.
 */
export function markChanges(
  listed: readonly ListedEntry[],
  changes: readonly ChangeEntry[],
  range: { readonly after: string; readonly until: string | undefined },
): MarkedEntry[] {
  const marks = new Map(changes.map((change) => [change.path, change]));
  const rows: MarkedEntry[] = listed.map((entry) => {
    const change = marks.get(entry.path);
    return change === undefined ? entry : { ...entry, mark: markOf(change) };
  });
  const present = new Set(listed.map((entry) => entry.path));
  for (const change of changes) {
    if (present.has(change.path)) continue;
    if (range.after !== '' && compareUtf8(change.path, range.after) <= 0) continue;
    if (range.until !== undefined && compareUtf8(change.path, range.until) > 0) continue;
    // A folder that is in no listing has nothing left in it.
    rows.push({
      path: change.path,
      path_type: change.path_type,
      size_bytes: change.size_bytes,
      mark: 'removed',
    });
  }
  return rows.sort((a, b) => compareUtf8(a.path, b.path));
}
