import { blockedCommit, blockedStagingWrite, compareUtf8 } from '@svc/encoding';
import type { KvWrite } from '@svc/kv';
import { maxTries } from '../context/back-off.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { invalid, notFound, tooManyAttempts } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { Actor } from '../face/model.ts';
import type { Protection } from '../face/protection.ts';
import { userOf } from '../moves/move-log.ts';
import { maxBranchNameBytes } from '../names/names.ts';
import { checkTexts } from '../names/text-limits.ts';
import { compileBranchPattern } from './glob.ts';
import type { StoredRules } from './protection-store.ts';
import { checkNotReadOnly } from './writable.ts';

export function protection(context: EngineContext): Protection {
  return {
    get: async (repository) => {
      const scope = await context.repositories.open(repository);
      const { rules, etag } = await context.protection.read(scope);
      return { patterns: Object.keys(rules.patterns).sort(compareUtf8), etag };
    },
    covers: async ({ repository, branch }) => {
      const scope = await context.repositories.open(repository);
      return (
        (await context.protection.isBlocked(scope, branch, blockedStagingWrite)) ||
        (await context.protection.isBlocked(scope, branch, blockedCommit))
      );
    },
    set: async ({ repository, patterns, ifMatch, actor }) => {
      checkPatterns(patterns);
      await changeRules(context, repository, actor, (current) => {
        if (ifMatch !== undefined && unquoted(ifMatch) !== current.etag) throw staleRules();
        return patterns;
      });
    },
    add: async ({ repository, pattern, actor }) => {
      await changeRules(context, repository, actor, (current) => {
        const patterns = [...Object.keys(current.rules.patterns), pattern];
        checkPatterns(patterns);
        return patterns;
      });
    },
    remove: async ({ repository, pattern, actor }) => {
      await changeRules(context, repository, actor, (current) => {
        const patterns = Object.keys(current.rules.patterns);
        if (!patterns.includes(pattern)) throw notFound('rules', '');
        return patterns.filter((other) => other !== pattern);
      });
    },
  };
}

async function changeRules(
  context: EngineContext,
  repository: string,
  actor: Actor | undefined,
  change: (current: StoredRules) => readonly string[],
): Promise<void> {
  const scope = await context.repositories.open(repository);
  checkNotReadOnly(scope, false);
  for (let attempt = 0; attempt < maxTries; attempt += 1) {
    const current = await context.protection.read(scope);
    const patterns = change(current);
    const told = protectionChanged(context, patterns, actor);
    if (await context.protection.replace(scope, current, patterns, told)) return;
    context.onRetry('protection');
  }
  throw tooManyAttempts();
}

/** What is told of new rules. */
export function protectionChanged(
  context: EngineContext,
  patterns: readonly string[],
  actor: Actor | undefined,
): KvWrite {
  return context.told({
    type: 'svc.protection.changed',
    subject: '',
    user: userOf(actor),
    data: { patterns: [...patterns] },
  });
}

/** A pattern that cannot be compiled would make every write in the repository fail later. */
function checkPatterns(patterns: readonly string[]): void {
  checkTexts('branch patterns', 'rules', patterns);
  for (const pattern of patterns) {
    if (pattern === '') throw invalid('branch pattern must not be empty', 'rules');
    if (Buffer.byteLength(pattern) > maxBranchNameBytes)
      throw invalid(`branch pattern is longer than ${maxBranchNameBytes} bytes`, 'rules');
    compileBranchPattern(pattern);
  }
}

function unquoted(etag: string): string {
  return etag.length >= 2 && etag.startsWith('"') && etag.endsWith('"') ? etag.slice(1, -1) : etag;
}

function staleRules(): EngineError {
  return new EngineError('precondition_failed', 'Precondition failed', { subject: 'rules' });
}
