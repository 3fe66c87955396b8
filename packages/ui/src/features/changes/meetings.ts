import { client } from '../../lib/api.ts';
import type { ConflictList } from '../../lib/api.ts';

/** Two states that meet on a branch, and where their conflicts are read. */
export interface Meeting {
  readonly kind: 'merge' | 'cherry-pick' | 'revert';
  /** The side that comes, by the name people know it by. */
  readonly source: string;
  /** The branch. */
  readonly destination: string;
  readonly key: readonly string[];
  readonly read: (query: { after: string; amount: number }) => Promise<ConflictList>;
}

export function mergeMeeting(repository: string, source: string, destination: string): Meeting {
  return {
    kind: 'merge',
    source,
    destination,
    key: ['merge', repository, source, destination],
    read: (query) =>
      client.get('/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}/conflicts', {
        params: { path: { repository, sourceRef: source, destinationBranch: destination }, query },
      }),
  };
}

/** A commit whose changes are applied to a branch, or taken back on it. */
export function commitMeeting(
  kind: 'cherry-pick' | 'revert',
  place: { readonly repository: string; readonly branch: string },
  commit: { readonly ref: string; readonly parent_number?: number | undefined; readonly name: string },
): Meeting {
  const { ref, parent_number, name } = commit;
  const asked = { ref, ...(parent_number !== undefined && { parent_number }) };
  const params = { path: place };
  return {
    kind,
    source: name,
    destination: place.branch,
    key: [kind, place.repository, place.branch, ref, String(parent_number)],
    read: (query) =>
      kind === 'revert'
        ? client.get('/repositories/{repository}/branches/{branch}/revert/conflicts', {
            params: { ...params, query: { ...query, ...asked } },
          })
        : client.get('/repositories/{repository}/branches/{branch}/cherry-pick/conflicts', {
            params: { ...params, query: { ...query, ...asked } },
          }),
  };
}
