import { blockedCommit, blockedStagingWrite } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { readOnly } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { RepositoryScope } from '../store/scope.ts';

/** Refuses writes to a read-only repository unless forced. */
export function checkNotReadOnly(scope: RepositoryScope, force: boolean | undefined): void {
  if (scope.repository.readOnly && force !== true) throw readOnly();
}

/** Refuses staging writes to a protected branch or a read-only repository. Undefined: allowed, known without waiting. */
export function checkStagingWritable(
  context: EngineContext,
  scope: RepositoryScope,
  branch: string,
  force: boolean | undefined,
): Promise<void> | undefined {
  const check = (isBlocked: boolean): void => {
    if (isBlocked) throw protectedBranch('cannot write to protected branch');
    checkNotReadOnly(scope, force);
  };
  const blocked = context.protection.isBlocked(scope, branch, blockedStagingWrite);
  if (blocked instanceof Promise) return blocked.then(check);
  check(blocked);
  return undefined;
}

export async function checkCommittable(
  context: EngineContext,
  scope: RepositoryScope,
  branch: string,
  force: boolean | undefined,
): Promise<void> {
  if (await context.protection.isBlocked(scope, branch, blockedCommit)) {
    throw protectedBranch('cannot commit to protected branch');
  }
  checkNotReadOnly(scope, force);
}

export function protectedBranch(message: string): EngineError {
  return new EngineError('protected', message, { subject: 'branch' });
}
