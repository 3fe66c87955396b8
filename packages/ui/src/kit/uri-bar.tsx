import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { crumbsOf, svcUri } from '../lib/paths.ts';
import { shortId } from '../lib/format.ts';
import { CopyButton } from './basics.tsx';

/** The current path, with a link for each folder and a button that copies it. */
export function UriBar({
  repository,
  ref,
  path,
}: {
  repository: string;
  ref: string;
  path: string;
}): ReactNode {
  const crumbs = crumbsOf(path);
  const params = { repo: repository };
  return (
    <nav className="uri" aria-label="Folder">
      <Link className="strong" to="/repositories/$repo/objects" params={params} search={{ ref }}>
        {repository}
      </Link>
      <span className="muted">/</span>
      <Link to="/repositories/$repo/objects" params={params} search={{ ref }}>
        {shortId(ref)}
      </Link>
      <span className="muted">/</span>
      {crumbs.map(({ name, prefix }) =>
        prefix.endsWith('/') ? (
          <span key={prefix}>
            {prefix === path ? (
              <strong aria-current="page">{name}</strong>
            ) : (
              <Link to="/repositories/$repo/objects" params={params} search={{ ref, path: prefix }}>
                {name === '' ? '(empty)' : name}
              </Link>
            )}
            <span className="muted">/</span>
          </span>
        ) : (
          <strong key={prefix} aria-current="page">
            {name}
          </strong>
        ),
      )}
      <CopyButton text={svcUri(repository, ref, path)} label="Copy URI" />
    </nav>
  );
}
