export type BlockErrorKind =
  | 'not_found'
  | 'not_supported'
  | 'bad_index'
  | 'forbidden'
  | 'invalid_address'
  | 'invalid_namespace'
  | 'write_failed'
  | 'no_space'
  | 'async_copy_failed'
  | 'already_exists'
  | 'upload_not_found'
  | 'invalid_part'
  | 'part_too_small'
  | 'configuration'
  | 'unavailable';

/** The one family of errors an object store throws. */
export class BlockError extends Error {
  override readonly name = 'BlockError';
  readonly kind: BlockErrorKind;

  constructor(kind: BlockErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }

  /** True when the same call may succeed later (the store was unreachable, throttled, failing or full). */
  get retryable(): boolean {
    return this.kind === 'unavailable' || this.kind === 'no_space';
  }
}

/** The caller did not want a request to be sent any more. */
export function notBegun(): BlockError {
  return new BlockError('unavailable', 'not begun: it was too late for it');
}
