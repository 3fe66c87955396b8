import { AuthError, type AuthErrorKind } from '@svc/auth';
import {
  BlockError,
  EngineError,
  KvError,
  type BlockErrorKind,
  type EngineErrorKind,
  type EngineSubject,
  type KvErrorKind,
} from '@svc/engine';
import type { S3ErrorCode } from './codes.ts';
import { S3Error } from './s3-error.ts';

/** A missing branch is a missing key to a reader and a missing bucket to a writer. */
export type Intent = 'read' | 'write';

type PerSubject = Partial<Record<EngineSubject, S3ErrorCode>> & { readonly other: S3ErrorCode };

const missing: Readonly<Record<Intent, PerSubject>> = {
  read: { repository: 'NoSuchBucket', upload: 'NoSuchUpload', other: 'NoSuchKey' },
  write: { object: 'NoSuchKey', upload: 'NoSuchUpload', other: 'NoSuchBucket' },
};

const invalid: Readonly<Record<Intent, PerSubject>> = {
  read: {
    repository: 'NoSuchBucket',
    ref: 'NoSuchKey',
    branch: 'NoSuchKey',
    tag: 'NoSuchKey',
    commit: 'NoSuchKey',
    other: 'InvalidArgument',
  },
  write: {
    repository: 'NoSuchBucket',
    branch: 'NoSuchBucket',
    ref: 'NoSuchKey',
    tag: 'NoSuchKey',
    commit: 'NoSuchKey',
    part: 'InvalidPart',
    part_size: 'EntityTooSmall',
    upload: 'InvalidRequest',
    other: 'InvalidArgument',
  },
};

const engineKinds: Readonly<Record<EngineErrorKind, S3ErrorCode | Readonly<Record<Intent, PerSubject>>>> = {
  invalid,
  not_found: missing,
  already_exists: 'PreconditionFailed',
  conflict: 'ConditionalRequestConflict',
  no_changes: 'InvalidRequest',
  dirty_branch: 'InvalidRequest',
  protected: 'ErrWriteToProtectedBranch',
  read_only: 'ErrReadOnlyRepository',
  forbidden: 'AccessDenied',
  precondition_failed: 'PreconditionFailed',
  hook_aborted: 'PreconditionFailed',
  in_deletion: 'NoSuchBucket',
  data_gone: 'NoSuchVersion',
  busy: 'SlowDown',
  not_supported: 'InvalidRequest',
  not_implemented: 'NotImplemented',
  corrupt: 'InternalError',
};

const authKinds: Partial<Record<AuthErrorKind, S3ErrorCode>> = {
  denied: 'AccessDenied',
  forbidden: 'AccessDenied',
  unauthenticated: 'AccessDenied',
  not_found: 'AccessDenied',
  too_many_failures: 'SlowDown',
};

/** Errors of the stores that the engine does not translate; the kinds left out are failures of ours. */
const blockKinds: Partial<Record<BlockErrorKind, S3ErrorCode>> = {
  not_found: 'NoSuchVersion',
  forbidden: 'AccessDenied',
  already_exists: 'PreconditionFailed',
  upload_not_found: 'NoSuchUpload',
  invalid_part: 'InvalidPart',
  part_too_small: 'EntityTooSmall',
  invalid_address: 'InvalidRequest',
  not_supported: 'InvalidRequest',
  unavailable: 'SlowDown',
};

const kvKinds: Partial<Record<KvErrorKind, S3ErrorCode>> = {
  slow_down: 'SlowDown',
  unavailable: 'SlowDown',
  key_too_long: 'KeyTooLongError',
};

/** Codes whose cause is worth telling; the others keep S3's wording, which clients match on. */
const tellsCause: ReadonlySet<S3ErrorCode> = new Set(['InvalidArgument', 'InvalidRequest', 'NotImplemented']);

/** The one table from everything that can be thrown to what an S3 client understands. */
export function toS3Error(error: unknown, intent: Intent): S3Error {
  if (error instanceof S3Error) return error;
  if (error instanceof EngineError) {
    const entry = engineKinds[error.kind];
    const code =
      typeof entry === 'string' ? entry : (entry[intent][error.subject ?? 'object'] ?? entry[intent].other);
    return new S3Error(code, tellsCause.has(code) ? error.message : undefined, { cause: error });
  }
  if (error instanceof AuthError) {
    const headers: Record<string, string> =
      error.retryAfterSeconds === undefined ? {} : { 'Retry-After': String(error.retryAfterSeconds) };
    return new S3Error(authKinds[error.kind] ?? 'InternalError', undefined, { cause: error, headers });
  }
  if (error instanceof BlockError || error instanceof KvError) {
    if (error.kind === 'no_space') {
      return new S3Error('SlowDown', 'The disk of the server is full. Nothing was written.', {
        cause: error,
      });
    }
    const code = error instanceof BlockError ? blockKinds[error.kind] : kvKinds[error.kind];
    if (code !== undefined) return new S3Error(code, undefined, { cause: error });
  }
  return new S3Error('InternalError', undefined, { cause: error });
}
