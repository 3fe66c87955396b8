import type { ConcernedFinding, DamageFinding, Finding } from '@svc/engine';

/** A key as JSON has it: as text, or as base64 under another name when it is not UTF-8. */
function keyField(name: string, key: Buffer): Record<string, string> {
  return isText(key) ? { [name]: key.toString('utf8') } : { [`${name}_base64`]: key.toString('base64') };
}

function isText(bytes: Buffer): boolean {
  return Buffer.from(bytes.toString('utf8'), 'utf8').equals(bytes);
}

/** One line of JSON. */
export function findingJson(finding: Finding): string {
  if (finding.type === 'concerned') {
    const { type, repository, kind, id, commitId, tables } = finding;
    return JSON.stringify({ type, repository, kind, id, commit_id: commitId, tables });
  }
  const { type, repository, kind, id, problem, reason, keys, lost } = finding;
  return JSON.stringify({
    type,
    repository,
    kind,
    id,
    problem,
    reason,
    ...(keys && { ...keyField('first_key', keys.first), ...keyField('last_key', keys.last) }),
    ...(lost.length > 0 && {
      lost: lost.map((span) => ({
        ...(span.after && keyField('after', span.after)),
        ...keyField('up_to', span.upTo),
        reason: span.reason,
      })),
    }),
  });
}

/** Lines for people. */
export function findingText(finding: Finding): string {
  return finding.type === 'concerned' ? concernedText(finding) : damageText(finding);
}

function concernedText({ repository, kind, id, commitId, tables }: ConcernedFinding): string {
  const named = kind === 'commit' ? id : `${shown(Buffer.from(id))} (commit ${commitId})`;
  return `${repository}: concerned: ${kind} ${named}, by ${tables.join(', ')}`;
}

function damageText({ repository, kind, id, problem, reason, keys, lost }: DamageFinding): string {
  const lines = [`${repository}: ${problem}: ${kind} ${shown(Buffer.from(id))}: ${reason}`];
  if (keys !== undefined) lines.push(`  holds ${shown(keys.first)} to ${shown(keys.last)}`);
  for (const { after, upTo } of lost) {
    const from = after === undefined ? 'from its first key' : `after ${shown(after)}`;
    lines.push(`  lost: ${from} up to ${shown(upTo)}`);
  }
  return lines.join('\n');
}

/** Control characters would reach the terminal, so they are escaped. */
function shown(key: Buffer): string {
  return isText(key) ? JSON.stringify(key.toString('utf8')) : `base64:${key.toString('base64')}`;
}
