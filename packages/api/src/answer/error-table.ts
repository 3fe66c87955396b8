import { AuthError, authenticationFailedMessage } from '@svc/auth';
import type { AuthErrorKind } from '@svc/auth';
import { BlockError, EngineError, KvError } from '@svc/engine';
import type { BlockErrorKind, EngineErrorKind } from '@svc/engine';
import { EventsError, type EventsErrorKind } from '@svc/events';
import { RequestError } from '../request/request-error.ts';
import { factsView } from '../views/conflict.ts';

/** What a caller is told about an error. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly noAcl?: true;
  /** Further fields of the body. */
  readonly more?: Readonly<Record<string, unknown>>;
  /** Not a refusal but an internal failure: log it with its cause. */
  readonly unexpected?: true;
  /** The message does not tell the cause: the caller gets the id under which the log has it. */
  readonly untold?: true;
}

const engineStatuses: Record<EngineErrorKind, number> = {
  invalid: 400,
  not_found: 404,
  already_exists: 409,
  conflict: 409,
  no_changes: 400,
  dirty_branch: 400,
  protected: 403,
  read_only: 403,
  forbidden: 403,
  precondition_failed: 412,
  hook_aborted: 412,
  in_deletion: 410,
  data_gone: 410,
  busy: 429,
  not_supported: 400,
  not_implemented: 501,
  corrupt: 500,
};

const authStatuses: Record<AuthErrorKind, number> = {
  invalid: 400,
  unauthenticated: 401,
  denied: 401,
  forbidden: 403,
  not_found: 404,
  no_acl: 404,
  already_exists: 409,
  already_initialized: 409,
  not_initialized: 412,
  too_many_failures: 429,
  unavailable: 500,
  not_implemented: 501,
  configuration: 500,
};

/** Errors of the object store that the engine does not translate. */
const blockStatuses: Readonly<Record<BlockErrorKind, number>> = {
  not_found: 410,
  not_supported: 400,
  bad_index: 416,
  forbidden: 403,
  invalid_address: 400,
  invalid_namespace: 400,
  already_exists: 409,
  upload_not_found: 404,
  invalid_part: 400,
  part_too_small: 400,
  unavailable: 503,
  no_space: 503,
  write_failed: 500,
  async_copy_failed: 500,
  configuration: 500,
};

const eventsStatuses: Readonly<Record<EventsErrorKind, number>> = {
  invalid: 400,
  gone: 410,
  not_found: 404,
  conflict: 409,
  busy: 503,
};

const internalError: Refusal = {
  status: 500,
  message: 'internal server error',
  unexpected: true,
  untold: true,
};

const noSpace: Refusal = {
  status: 503,
  message: 'The disk of the server is full. Nothing was written; free some space there and try again',
  unexpected: true,
};

/** Turns every error an operation may throw into a status and a message, in one place. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof RequestError) {
    const { status, message, headers } = error;
    return { status, message, ...(headers !== undefined && { headers }) };
  }
  if (error instanceof EngineError) {
    const status = engineStatuses[error.kind];
    const more = factsView(error.facts);
    return {
      status,
      message: error.message,
      ...(more !== undefined && { more }),
      ...(status === 500 && { unexpected: true }),
    };
  }
  if (error instanceof AuthError) return authRefusal(error);
  if (error instanceof EventsError) {
    const { oldest } = error;
    const more = oldest === undefined ? {} : { more: { oldest: String(oldest) } };
    return { status: eventsStatuses[error.kind], message: error.message, ...more };
  }
  if (error instanceof BlockError) return blockRefusal(error);
  if (error instanceof KvError) return kvRefusal(error);
  return internalError;
}

function authRefusal(error: AuthError): Refusal {
  const status = authStatuses[error.kind];
  if (status === 500) return internalError;
  return {
    status,
    message: error.message,
    ...(error.kind === 'no_acl' && { noAcl: true }),
    ...(error.retryAfterSeconds !== undefined && {
      headers: { 'retry-after': String(error.retryAfterSeconds) },
    }),
  };
}

function blockRefusal({ kind, message }: BlockError): Refusal {
  if (kind === 'no_space') return noSpace;
  if (kind === 'not_found') return { status: blockStatuses[kind], message: 'No data' };
  const status = blockStatuses[kind];
  return status === 500 ? internalError : { status, message };
}

function kvRefusal({ kind, message }: KvError): Refusal {
  if (kind === 'no_space') return noSpace;
  if (kind === 'key_too_long') return { status: 400, message };
  if (kind === 'slow_down') return { status: 503, message: 'Throughput exceeded. Slow down and retry' };
  if (kind === 'unavailable') {
    return { status: 503, message: 'The key-value store does not answer. Try again later', unexpected: true };
  }
  return internalError;
}

export function unauthenticated(): AuthError {
  return new AuthError('unauthenticated', authenticationFailedMessage);
}
