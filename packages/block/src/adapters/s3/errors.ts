import { BlockError, type BlockErrorKind } from '../../errors.ts';

/** What the store said when it refused. */
export interface S3Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

const retryableCodes = new Set([
  'InternalError',
  'RequestTimeout',
  'RequestTimeoutException',
  'ServiceUnavailable',
  'SlowDown',
  'Throttling',
  'ThrottlingException',
  'ThrottledException',
  'RequestThrottled',
  'RequestThrottledException',
  'TooManyRequestsException',
  'RequestLimitExceeded',
  'BandwidthLimitExceeded',
  'PriorRequestNotComplete',
  'ConditionalRequestConflict',
  'OperationAborted',
]);

const kinds: Readonly<Record<string, BlockErrorKind>> = {
  NoSuchKey: 'not_found',
  NotFound: 'not_found',
  NoSuchUpload: 'upload_not_found',
  InvalidPart: 'invalid_part',
  InvalidPartOrder: 'invalid_part',
  EntityTooSmall: 'part_too_small',
  InvalidRange: 'bad_index',
  PreconditionFailed: 'already_exists',
  KeyTooLongError: 'invalid_address',
};

/** Whether the same request may succeed when sent again. */
export function isRetryable({ status, code }: S3Refusal): boolean {
  return status >= 500 ? status !== 501 : status === 429 || retryableCodes.has(code);
}

export function refusalError(refusal: S3Refusal, access: 'read' | 'write', target: string): BlockError {
  const { status, code, message } = refusal;
  const told = `${target}: the store answered ${status}${code === '' ? '' : ` ${code}`}${message === '' ? '' : `: ${message}`}`;
  return new BlockError(refusalKind(refusal, access), told);
}

function refusalKind(refusal: S3Refusal, access: 'read' | 'write'): BlockErrorKind {
  const { status, code } = refusal;
  if (isRetryable(refusal)) return 'unavailable';
  if (code === 'NoSuchBucket') return access === 'read' ? 'not_found' : 'invalid_namespace';
  const known = kinds[code];
  if (known !== undefined) return known;
  if (status === 404) return 'not_found';
  if (status === 401 || status === 403) return 'forbidden';
  if (status === 412) return 'already_exists';
  if (status === 416) return 'bad_index';
  return access === 'write' ? 'write_failed' : 'configuration';
}
