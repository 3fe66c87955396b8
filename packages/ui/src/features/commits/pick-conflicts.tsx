import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ErrorNotice } from '../../kit/basics.tsx';
import { client } from '../../lib/api.ts';
import type { Commit } from '../../lib/api.ts';
import { shortId } from '../../lib/format.ts';
import { useWrite } from '../../lib/queries.ts';
import { ConflictResolver } from '../changes/conflict-resolver.tsx';
import { commitMeeting } from '../changes/meetings.ts';
import type { MergeSteering } from '../changes/merge-dialog.tsx';
import { useRepository } from '../shell/repository-context.tsx';

/** Settles what stands between a commit and a branch that it is applied to. */
export function PickConflicts({ commit, branch }: { commit: Commit; branch: string }): ReactNode {
  const repository = useRepository().id;
  const navigate = useNavigate();
  const picked = { ref: commit.id, ...(commit.parents.length > 1 && { parent_number: 1 }) };
  const pick = useWrite(
    ({ expected_destination, resolutions }: MergeSteering) =>
      client.post('/repositories/{repository}/branches/{branch}/cherry-pick', {
        params: { path: { repository, branch } },
        body: { ...picked, expected_destination, resolutions },
      }),
    () =>
      void navigate({
        to: '/repositories/$repo/commits',
        params: { repo: repository },
        search: { ref: branch },
      }),
  );
  return (
    <>
      {pick.error !== null && <ErrorNotice error={pick.error} />}
      <ConflictResolver
        repository={repository}
        meeting={commitMeeting(
          'cherry-pick',
          { repository, branch },
          { ...picked, name: shortId(commit.id) },
        )}
        busy={pick.isPending}
        onMerge={(steering) => pick.mutate(steering)}
      />
    </>
  );
}
