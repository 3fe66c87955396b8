import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { client } from '../../lib/api.ts';
import { explain } from '../../lib/explain.ts';
import { formatCount } from '../../lib/format.ts';
import type { MergeSteering } from './merge-dialog.tsx';

/** Asks what a merge would do; pages of the answer are added up. */
async function preview(
  repository: string,
  source: string,
  destination: string,
  body: MergeSteering,
): Promise<string> {
  let [added, changed, removed, total, unresolved] = [0, 0, 0, 0, 0];
  for (let after = ''; ;) {
    const page = await client.post(
      '/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}/preview',
      {
        params: {
          path: { repository, sourceRef: source, destinationBranch: destination },
          query: { after },
        },
        body,
      },
    );
    added += page.added.objects;
    changed += page.changed.objects;
    removed += page.removed.objects;
    total += page.conflicts.total;
    unresolved += page.conflicts.unresolved;
    if (!page.pagination.has_more) break;
    after = page.pagination.next_offset;
  }
  const counts = `+${formatCount(added)} ~${formatCount(changed)} −${formatCount(removed)}`;
  return `${counts}, ${formatCount(total)} in conflict, ${formatCount(unresolved)} not settled`;
}

export function MergePreviewLine({
  repository,
  source,
  destination,
  steering,
}: {
  repository: string;
  source: string;
  destination: string;
  steering: MergeSteering;
}): ReactNode {
  const ask = useMutation({ mutationFn: () => preview(repository, source, destination, steering) });
  const said = ask.error === null ? ask.data : explain(ask.error).text;
  return (
    <>
      {said !== undefined && (
        <span className="small muted" role="status">
          {said}
        </span>
      )}
      <Button variant="default" size="compact-sm" loading={ask.isPending} onClick={() => ask.mutate()}>
        Preview
      </Button>
    </>
  );
}
