export type OutgoingErrorKind =
  | 'bad_url'
  | 'refused_address'
  | 'timeout'
  | 'too_large'
  | 'redirects'
  | 'cancelled'
  | 'network';

/** Why there is no answer. The message names hosts and addresses, never paths, queries, headers or credentials. */
export class OutgoingError extends Error {
  override readonly name = 'OutgoingError';
  readonly kind: OutgoingErrorKind;

  constructor(kind: OutgoingErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
