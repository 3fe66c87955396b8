import { AuthError, type AuthErrorKind } from '@svc/auth';
import { BlockError, EngineError, KvError, type EngineErrorKind, type EngineSubject } from '@svc/engine';
import { IcebergError, type IcebergErrorType } from './iceberg-error.ts';

const ofEngine: Record<EngineErrorKind, IcebergErrorType> = {
  invalid: 'BadRequestException',
  not_found: 'NotFoundException',
  already_exists: 'AlreadyExistsException',
  conflict: 'CommitFailedException',
  no_changes: 'BadRequestException',
  dirty_branch: 'BadRequestException',
  protected: 'ForbiddenException',
  read_only: 'ForbiddenException',
  forbidden: 'ForbiddenException',
  precondition_failed: 'CommitFailedException',
  hook_aborted: 'ForbiddenException',
  in_deletion: 'NoSuchNamespaceException',
  data_gone: 'NotFoundException',
  busy: 'TooManyRequestsException',
  not_supported: 'UnsupportedOperationException',
  not_implemented: 'UnsupportedOperationException',
  corrupt: 'InternalServerError',
};

const ofAuth: Record<AuthErrorKind, IcebergErrorType> = {
  invalid: 'BadRequestException',
  unauthenticated: 'NotAuthorizedException',
  denied: 'ForbiddenException',
  forbidden: 'ForbiddenException',
  not_found: 'NotFoundException',
  no_acl: 'NotFoundException',
  already_exists: 'AlreadyExistsException',
  already_initialized: 'AlreadyExistsException',
  not_initialized: 'ServiceUnavailableException',
  too_many_failures: 'TooManyRequestsException',
  unavailable: 'InternalServerError',
  not_implemented: 'UnsupportedOperationException',
  configuration: 'InternalServerError',
};

/** A repository, or a ref of it, is a namespace to the protocol. */
const namespaces: ReadonlySet<EngineSubject | undefined> = new Set([
  'repository',
  'branch',
  'tag',
  'commit',
  'ref',
]);

/** The one table from whatever went wrong to what the caller is told. */
export function toIcebergError(error: unknown): IcebergError {
  if (error instanceof IcebergError) return error;
  if (error instanceof EngineError) {
    const { kind, message, subject } = error;
    const isNamespace = kind === 'not_found' && namespaces.has(subject);
    const type = isNamespace ? 'NoSuchNamespaceException' : ofEngine[kind];
    return type === 'InternalServerError'
      ? internal(error)
      : new IcebergError(type, message, { cause: error });
  }
  if (error instanceof AuthError) {
    const { kind, message, retryAfterSeconds } = error;
    const type = ofAuth[kind];
    if (type === 'InternalServerError') return internal(error);
    return new IcebergError(type, message, { cause: error, retryAfterSeconds });
  }
  const isStore = error instanceof BlockError || error instanceof KvError;
  if (isStore && (error.kind === 'unavailable' || error.kind === 'slow_down' || error.kind === 'no_space')) {
    return new IcebergError('ServiceUnavailableException', 'The store does not answer. Try again later', {
      cause: error,
    });
  }
  return internal(error);
}

function internal(cause: unknown): IcebergError {
  return new IcebergError('InternalServerError', 'internal server error', { cause });
}
