export type EventsErrorKind = 'invalid' | 'gone' | 'not_found' | 'conflict' | 'busy';

/** Why the log of events or a subscription refuses. */
export class EventsError extends Error {
  override readonly name = 'EventsError';
  readonly kind: EventsErrorKind;
  /** Where reading may begin instead. */
  readonly oldest: number | undefined;

  constructor(kind: EventsErrorKind, message: string, options: { readonly oldest?: number } = {}) {
    super(message);
    this.kind = kind;
    this.oldest = options.oldest;
  }
}
