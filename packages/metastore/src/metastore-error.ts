/** `not-found` and `exists` are what operations decide by; everything else is for people. */
export type MetastoreErrorKind = 'not-found' | 'exists' | 'invalid' | 'unavailable' | 'failed';

export class MetastoreError extends Error {
  override readonly name = 'MetastoreError';
  readonly kind: MetastoreErrorKind;

  constructor(kind: MetastoreErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
