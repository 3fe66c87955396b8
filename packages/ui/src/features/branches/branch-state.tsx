import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Lock } from 'lucide-react';
import type { ReactNode } from 'react';
import { formatCount } from '../../lib/format.ts';
import { rulesFor } from '../../lib/protection.ts';
import { changesQuery, protectionQuery } from '../../lib/queries.ts';
import { useRepository } from '../shell/repository-context.tsx';

/** Whether a branch is protected, and how much on it is not committed. */
export function BranchState({ branch }: { branch: string }): ReactNode {
  const { id: repo } = useRepository();
  const { data: patterns = [] } = useQuery(protectionQuery(repo));
  const { data: uncommitted } = useQuery(changesQuery(repo, branch));
  const [rule] = rulesFor(branch, patterns);
  const count =
    uncommitted === undefined
      ? ''
      : `${formatCount(uncommitted.changes.length)}${uncommitted.complete ? '' : '+'}`;
  return (
    <>
      {rule !== undefined && (
        <Link
          className="tag rigid"
          aria-label="Protected"
          to="/repositories/$repo/settings/branches"
          params={{ repo }}
          title={`The rule ${rule} refuses uploads and commits; merges are allowed`}
        >
          <Lock size={12} aria-hidden /> <span className="hide-narrow">Protected</span>
        </Link>
      )}
      {uncommitted !== undefined && uncommitted.changes.length > 0 && (
        <Link
          className="tag changed rigid"
          aria-label={`${count} uncommitted`}
          to="/repositories/$repo/objects"
          params={{ repo }}
          search={{ ref: branch, showChanges: 'true' }}
        >
          {count} <span className="hide-narrow">uncommitted</span>
        </Link>
      )}
    </>
  );
}
