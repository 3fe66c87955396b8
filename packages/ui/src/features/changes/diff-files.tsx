import { useQuery } from '@tanstack/react-query';
import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Diff } from '../../lib/api.ts';
import { baseName, parentOf } from '../../lib/paths.ts';
import type { Viewed } from '../../lib/viewed.ts';
import type { DiffSource } from './diff-tree.tsx';

const shownFiles = 1000;
/** A shorter difference is seen at a glance. */
const worthListing = 4;

/** The files of a difference by folder, to go from one to another. */
export function DiffFiles({
  source,
  viewed,
  file,
  onFile,
}: {
  source: DiffSource;
  viewed: Viewed;
  file: string | undefined;
  onFile: (path: string) => void;
}): ReactNode {
  const { data } = useQuery({
    queryKey: ['diff', ...source.key, 'files'],
    queryFn: () => source.load({ prefix: '', delimiter: '', after: '', amount: shownFiles }),
  });
  if (data === undefined || data.results.length < worthListing) return null;
  const folders = new Map<string, Diff[]>();
  for (const entry of data.results) {
    const folder = parentOf(entry.path);
    folders.set(folder, [...(folders.get(folder) ?? []), entry]);
  }
  return (
    <nav className="diff-files" aria-label="Changed files">
      {[...folders].map(([folder, entries]) => (
        <div key={folder}>
          {folder !== '' && (
            <div className="small muted ellipsis mono" title={folder}>
              {folder}
            </div>
          )}
          <ul>
            {entries.map((entry) => (
              <li key={entry.path}>
                <button
                  type="button"
                  className={`plain ellipsis ${entry.type}`}
                  title={entry.path}
                  aria-current={file === entry.path}
                  onClick={() => onFile(entry.path)}
                >
                  {viewed.has(entry) && <Check size={13} aria-label="viewed" />} {baseName(entry.path)}
                </button>
              </li>
            ))}
          </ul>
        </div>
      ))}
      {data.pagination.has_more && <div className="small muted">The first {shownFiles} are listed</div>}
    </nav>
  );
}
