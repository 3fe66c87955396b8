import type { components } from '@svc/client';
import { formatDate } from './format.ts';
import type { Output } from './output.ts';

export type Commit = components['schemas']['Commit'];

const labelWidth = 15;

/** What a command prints about the commit it made. */
export function printCommitResult(out: Output, branch: string, commit: Commit): void {
  if (out.json) {
    out.document(commit);
    return;
  }
  out.line(`Commit for branch "${branch}" completed.`);
  out.line();
  out.line(`ID: ${out.paint(commit.id, 'yellow')}`);
  out.line(`Message: ${commit.message}`);
  out.line(`Timestamp: ${formatDate(commit.creation_date)}`);
  out.line(`Parents: ${commit.parents.join(', ')}`);
  out.line();
}

/** One commit of a log. `between` entries the last metadata line stays open: the next entry's empty line ends it. */
export function printCommitEntry(
  out: Output,
  commit: Commit,
  options: { readonly metaRangeId: boolean; readonly between: boolean },
): void {
  const field = (label: string, value: string): void => {
    out.line(`${label.padEnd(labelWidth)}${value}`);
  };
  out.line();
  field('ID:', out.paint(commit.id, 'yellow'));
  if (commit.committer !== '') field('Author:', commit.committer);
  field('Date:', formatDate(commit.creation_date));
  if (options.metaRangeId) field('Meta Range ID:', commit.meta_range_id);
  if (commit.parents.length > 1) field('Merge:', out.paint(commit.parents.join(', '), 'bold'));
  out.line();
  out.line(`\t${commit.message}`);
  const metadata = Object.entries(commit.metadata ?? {}).sort(([a], [b]) =>
    Buffer.compare(Buffer.from(a), Buffer.from(b)),
  );
  if (metadata.length === 0) return;
  out.line();
  out.line('Metadata:');
  for (const [key, value] of metadata) {
    out.line('\t');
    out.line(`\t${key.padEnd(18)} = ${value}`);
  }
  if (options.between) out.write('\t');
}
