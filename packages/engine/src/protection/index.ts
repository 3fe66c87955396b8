import { compareUtf8 } from '@svc/encoding';
import { maxTries } from '../context/back-off.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { invalid, notFound, tooManyAttempts } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { Protection } from '../face/protection.ts';
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
    set: async ({ repository, patterns, ifMatch }) => {
      checkPatterns(patterns);
      await changeRules(context, repository, (current) => {
        if (ifMatch !== undefined && unquoted(ifMatch) !== current.etag) throw staleRules();
        return patterns;
      });
    },
    add: async ({ repository, pattern }) => {
      await changeRules(context, repository, (current) => {
        const patterns = [...Object.keys(current.rules.patterns), pattern];
        checkPatterns(patterns);
        return patterns;
      });
    },
    remove: async ({ repository, pattern }) => {
      await changeRules(context, repository, (current) => {
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
  change: (current: StoredRules) => readonly string[],
): Promise<void> {
  const scope = await context.repositories.open(repository);
  checkNotReadOnly(scope, false);
  for (let attempt = 0; attempt < maxTries; attempt += 1) {
    const current = await context.protection.read(scope);
    if (await context.protection.replace(scope, current, change(current))) return;
    context.onRetry('protection');
  }
  throw tooManyAttempts();
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
