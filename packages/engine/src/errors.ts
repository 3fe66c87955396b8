import type { Conflict, MergeBase } from './face/merges.ts';

/** Every way an engine operation can refuse. Each protocol has one table from kind to its own code. */
export type EngineErrorKind =
  | 'invalid'
  | 'not_found'
  | 'already_exists'
  | 'conflict'
  | 'no_changes'
  | 'dirty_branch'
  | 'protected'
  | 'read_only'
  | 'forbidden'
  | 'precondition_failed'
  | 'hook_aborted'
  | 'in_deletion'
  | 'data_gone'
  | 'busy'
  | 'not_supported'
  | 'not_implemented'
  | 'corrupt';

/** What the error is about, so that a protocol can say `branch not found` or pick `NoSuchBucket`. */
export type EngineSubject =
  | 'repository'
  | 'alias'
  | 'branch'
  | 'tag'
  | 'commit'
  | 'ref'
  | 'object'
  | 'pull_request'
  | 'import'
  | 'task'
  | 'upload'
  | 'part'
  | 'part_size'
  | 'rules'
  | 'namespace'
  | 'storage';

/** What stands elsewhere than the caller saw it. */
export interface Moved {
  readonly source?: { readonly expected: string; readonly actual: string } | undefined;
  readonly destination?: { readonly expected: string; readonly actual: string } | undefined;
  /** Paths whose conflict is another one now. */
  readonly paths?: readonly string[] | undefined;
}

/** The conflicts that stopped a merge. */
export interface UnresolvedConflicts extends MergeBase {
  readonly unresolved: number;
  readonly results: readonly Conflict[];
  readonly hasMore: boolean;
}

/** What a program can use beside the message. */
export interface ErrorFacts {
  readonly moved?: Moved | undefined;
  readonly conflicts?: UnresolvedConflicts | undefined;
  /** The first path in conflict, where the others are not looked for. */
  readonly conflictAt?: string | undefined;
}

interface EngineErrorOptions extends ErrorOptions {
  readonly subject?: EngineSubject;
  readonly facts?: ErrorFacts;
}

/** The one family of errors the engine throws; the message is for the user and names what to do where it can. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly kind: EngineErrorKind;
  readonly subject: EngineSubject | undefined;
  readonly facts: ErrorFacts | undefined;

  constructor(kind: EngineErrorKind, message: string, options?: EngineErrorOptions) {
    super(message, options);
    this.kind = kind;
    this.subject = options?.subject;
    this.facts = options?.facts;
  }
}
