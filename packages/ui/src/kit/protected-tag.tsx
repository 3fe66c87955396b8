import { Link } from '@tanstack/react-router';
import { Lock } from 'lucide-react';
import type { ReactNode } from 'react';

/** Marks a branch that refuses uploads and commits. */
export function ProtectedTag({ repo, rule }: { repo: string; rule?: string | undefined }): ReactNode {
  return (
    <Link
      className="tag rigid"
      aria-label="Protected"
      to="/repositories/$repo/settings/branches"
      params={{ repo }}
      title={`${rule === undefined ? 'A rule' : `The rule ${rule}`} refuses uploads and commits; merges are allowed`}
    >
      <Lock size={12} aria-hidden /> <span className="hide-narrow">Protected</span>
    </Link>
  );
}
