export type KvErrorKind =
  | 'missing_partition_key'
  | 'missing_key'
  | 'missing_value'
  | 'key_too_long'
  | 'invalid_change'
  | 'slow_down'
  | 'unavailable'
  | 'no_space'
  | 'unknown_driver'
  | 'driver_configuration'
  | 'connect_failed'
  | 'setup_failed'
  | 'locked'
  | 'closed';

/** Kinds after which the same call may succeed: throttled, connection lost, disk full. */
const retryableKinds: ReadonlySet<KvErrorKind> = new Set(['slow_down', 'unavailable', 'no_space']);

/** The one family of errors a key-value store throws. "Not found" and a failed condition are answers, not errors. */
export class KvError extends Error {
  override readonly name = 'KvError';
  readonly kind: KvErrorKind;

  constructor(kind: KvErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }

  get retryable(): boolean {
    return retryableKinds.has(this.kind);
  }
}
