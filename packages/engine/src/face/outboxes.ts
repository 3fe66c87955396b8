/** Where what happened waits to be put in order with what happened elsewhere. */
export interface Outboxes {
  /** Every partition that may have an outbox. */
  partitions(): AsyncIterable<Buffer>;
  /** False for a repository that is only being made: what happened there may still not have happened. */
  isThere(partition: Buffer): Promise<boolean>;
  /** Hands staging that no branch names any more to the cleaner; doing so twice does no harm. */
  retireTokens(tokens: readonly string[]): Promise<void>;
}
