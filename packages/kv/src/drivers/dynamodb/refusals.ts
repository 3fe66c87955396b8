import { KvError } from '../../errors.ts';

/** Why a transaction was cancelled, action by action. */
export interface CancellationReason {
  readonly Code?: string;
}

/** What the service said instead of doing it. */
export interface Refusal {
  readonly status: number;
  /** Without the name space in front. */
  readonly type: string;
  readonly message: string;
  readonly reasons: readonly CancellationReason[];
}

export type RefusalClass = 'answer' | 'throttled' | 'conflict' | 'server' | 'credentials' | 'other';

/** Refusals that answer the question that was asked. */
const answers = new Set([
  'ConditionalCheckFailedException',
  'TransactionCanceledException',
  'ResourceNotFoundException',
  'ResourceInUseException',
]);
const throttling =
  /^(ProvisionedThroughputExceeded|Throttling(Error)?|RequestLimitExceeded|RequestThrottled|LimitExceeded|TooManyRequests)(Exception)?$/;
/** Two writes met; neither of them is to blame and this one did not happen. */
const conflicts = /^(TransactionConflict|TransactionInProgress|ReplicatedWriteConflict)(Exception)?$/;
const credentials =
  /^(UnrecognizedClient|InvalidSignature|IncompleteSignature|MissingAuthenticationToken|AccessDenied|InvalidClientTokenId|SignatureDoesNotMatch|ExpiredToken|NotAuthorized)(Exception)?$/;

export function classOf({ status, type }: Refusal): RefusalClass {
  if (answers.has(type)) return 'answer';
  if (throttling.test(type) || status === 429) return 'throttled';
  if (conflicts.test(type)) return 'conflict';
  if (credentials.test(type)) return 'credentials';
  return status >= 500 ? 'server' : 'other';
}

export function isThrottled(code: string | undefined): boolean {
  return throttling.test(code ?? '');
}

export function isConflict(code: string | undefined): boolean {
  return conflicts.test(code ?? '');
}

export function refusalError(refusal: Refusal): KvError {
  const said = `dynamodb: ${refusal.type || `status ${refusal.status}`}${refusal.message === '' ? '' : `: ${refusal.message}`}`;
  switch (classOf(refusal)) {
    case 'throttled':
      return new KvError('slow_down', `${said}; raise the capacity of the table or send less`);
    case 'conflict':
      return new KvError('slow_down', `${said}; other writers held the entries all the time`);
    case 'server':
      return new KvError('unavailable', said);
    case 'credentials':
      return new KvError(
        'driver_configuration',
        `${said}; check database.dynamodb.aws_access_key_id, aws_secret_access_key and aws_region, or the role, and ` +
          'that its policy allows this on the table',
      );
    case 'answer':
    case 'other':
      return new KvError(
        refusal.type === 'ResourceNotFoundException' ? 'unavailable' : 'driver_configuration',
        refusal.type === 'ResourceNotFoundException'
          ? `${said}; the table of database.dynamodb.table_name is gone: restore it, or start the server again to create it`
          : said,
      );
  }
}
