import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { shortId } from '../../lib/format.ts';

interface Place {
  readonly repository: string;
  readonly ref: string;
  readonly prefix?: string | undefined;
  readonly commit_id?: string | undefined;
  readonly pinned?: boolean | undefined;
}

/** Where a bucket leads, as a link to its data. */
export function PlaceText({ place }: { place: Place }): ReactNode {
  const { repository, ref, prefix = '', commit_id: commitId } = place;
  return (
    <span className="wrap">
      <Link
        to="/repositories/$repo/objects"
        params={{ repo: repository }}
        search={{ ref, path: prefix === '' ? undefined : prefix }}
      >
        {repository}/{shortId(ref)}
        {prefix !== '' && `/${prefix}`}
      </Link>
      {commitId !== undefined && commitId !== ref && (
        <span className="muted mono small"> {shortId(commitId)}</span>
      )}
    </span>
  );
}
