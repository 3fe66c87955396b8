import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { GitBranch, History } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ExactTime } from '../../kit/basics.tsx';
import { onDemand } from '../../kit/on-demand.tsx';
import { secondsOf, shortId } from '../../lib/format.ts';
import type { ResolvedRef } from '../../lib/queries.ts';
import { parseTimeRef } from '../../lib/time-refs.ts';
import { useRepository } from '../shell/repository-context.tsx';

const CreateRefDialog = onDemand(
  async () => (await import('../branches/create-ref-dialog.tsx')).CreateRefDialog,
);

/** Says that a page shows the past, which commit that is, and how to leave it. */
export function TimeBanner({
  resolved,
  onRef,
}: {
  resolved: ResolvedRef | null | undefined;
  onRef: (ref: string) => void;
}): ReactNode {
  const repository = useRepository();
  const [creating, setCreating] = useState(false);
  const time = resolved === null || resolved === undefined ? undefined : parseTimeRef(resolved.ref);
  if (resolved === null || resolved === undefined || time === undefined) return null;
  return (
    <div className="notice info hint" role="note">
      <History size={17} aria-hidden />
      <div className="grow wrap">
        <strong>{time.base}</strong> as of{' '}
        {resolved.instant === undefined ? (
          <code>{resolved.ref.slice(time.base.length)}</code>
        ) : (
          <strong>
            <ExactTime seconds={secondsOf(resolved.instant)} />
          </strong>
        )}
        {time.steps !== '' && <code> {time.steps}</code>}
        {': commit '}
        <Link
          className="mono"
          to="/repositories/$repo/commits/$commitId"
          params={{ repo: repository.id, commitId: resolved.commitId }}
        >
          {shortId(resolved.commitId)}
        </Link>
        , read-only
        <div className="row after">
          <Button size="compact-sm" onClick={() => onRef(time.base)}>
            Back to now
          </Button>
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<GitBranch size={14} />}
            disabled={repository.read_only === true}
            onClick={() => setCreating(true)}
          >
            Create branch here
          </Button>
        </div>
      </div>
      {creating && <CreateRefDialog kind="branch" from={resolved.ref} onClose={() => setCreating(false)} />}
    </div>
  );
}
