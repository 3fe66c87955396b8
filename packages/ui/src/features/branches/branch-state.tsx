import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowDown, ArrowUp } from 'lucide-react';
import type { ReactNode } from 'react';
import { ProtectedTag } from '../../kit/protected-tag.tsx';
import { formatCount, plural } from '../../lib/format.ts';
import { rulesFor } from '../../lib/protection.ts';
import { changesQuery, divergenceQuery, protectionQuery } from '../../lib/queries.ts';
import { useRepository } from '../shell/repository-context.tsx';

/** The server counts to a thousand. */
const amountOf = (count: number): string => (count > 1000 ? '1000+' : String(count));

/** How far a branch went from the default one, whether it is protected, and how much on it is not committed. */
export function BranchState({ branch }: { branch: string }): ReactNode {
  const { id: repo, default_branch: main } = useRepository();
  const { data: apart } = useQuery(divergenceQuery(repo, branch, main));
  const { data: patterns = [] } = useQuery(protectionQuery(repo));
  const { data: uncommitted } = useQuery(changesQuery(repo, branch));
  const [rule] = rulesFor(branch, patterns);
  const count =
    uncommitted === undefined
      ? ''
      : `${formatCount(uncommitted.changes.length)}${uncommitted.complete ? '' : '+'}`;
  return (
    <>
      {rule !== undefined && <ProtectedTag repo={repo} rule={rule} />}
      {apart !== undefined && apart.left + apart.right > 0 && (
        <Link
          className="tag rigid"
          title={`${plural(apart.left, 'commit')} that ${main} has not, ${plural(apart.right, 'commit')} that only ${main} has`}
          to="/repositories/$repo/compare"
          params={{ repo }}
          search={{ ref: main, compare: branch }}
        >
          <ArrowUp size={12} aria-hidden /> {amountOf(apart.left)}{' '}
          <span className="visually-hidden">ahead of {main}, </span>
          <ArrowDown size={12} aria-hidden /> {amountOf(apart.right)}{' '}
          <span className="visually-hidden">behind</span>
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
