/** A table was read after it was closed: a mistake of the program, never to be taken for an empty table. */
export class ClosedTableError extends Error {
  override readonly name = 'ClosedTableError';

  constructor(message = 'the table was closed') {
    super(message);
  }
}
