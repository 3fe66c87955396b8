import type { EngineSubject } from '../errors.ts';
import { EngineError } from '../errors.ts';

const notFoundText: Partial<Record<EngineSubject, string>> = {
  repository: 'repository not found',
  branch: 'branch not found',
  tag: 'tag not found',
  commit: 'commit not found',
  pull_request: 'pull request not found',
  upload: 'upload not found',
};

export function notFound(subject: EngineSubject, message?: string): EngineError {
  return new EngineError('not_found', message ?? notFoundText[subject] ?? 'not found', { subject });
}

export function invalid(message: string, subject?: EngineSubject): EngineError {
  return new EngineError('invalid', message, subject === undefined ? undefined : { subject });
}

export function readOnly(): EngineError {
  return new EngineError('read_only', 'read-only repository', { subject: 'repository' });
}

export function dirtyBranch(message = 'uncommitted changes (dirty branch)'): EngineError {
  return new EngineError('dirty_branch', message, { subject: 'branch' });
}

export function noChanges(message = 'no changes'): EngineError {
  return new EngineError('no_changes', message, { subject: 'branch' });
}

export function tooManyAttempts(): EngineError {
  return new EngineError('busy', 'Too many attempts, try again later', { subject: 'branch' });
}

/** The same error with the place where it happened in front, e.g. `update branch: conflict found`. */
export function within(place: string, error: unknown): unknown {
  if (!(error instanceof EngineError)) return error;
  return new EngineError(error.kind, `${place}: ${error.message}`, {
    cause: error,
    ...(error.subject === undefined ? {} : { subject: error.subject }),
    ...(error.facts === undefined ? {} : { facts: error.facts }),
  });
}
