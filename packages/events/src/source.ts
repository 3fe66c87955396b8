/** What the keeper must know of those whose events it puts in order. */
export interface EventSource {
  /** Every partition that may have an outbox. */
  partitions(): AsyncIterable<Buffer>;
  /** False for a repository that is only being made: what happened there may still not have happened. */
  isThere(partition: Buffer): Promise<boolean>;
  /** Hands staging that no branch names any more to the cleaner; doing so twice does no harm. */
  retireTokens(tokens: readonly string[]): Promise<void>;
}

export interface EventsLogger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
