/** The table's bytes break its format: damaged, cut, or not a table at all. */
export class CorruptTableError extends Error {
  override readonly name = 'CorruptTableError';
  readonly kind = 'corrupt';

  constructor(what: string, options?: ErrorOptions) {
    super(`corrupt table: ${what}`, options);
  }
}
