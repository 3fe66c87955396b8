export interface UsageReport {
  readonly year: number;
  readonly month: number;
  readonly count: number;
}

export interface Usage {
  /** Counts one action; never waits. */
  record(count?: number): void;
  /** Adds what was counted to the stored months. */
  flush(): Promise<void>;
  reports(): Promise<UsageReport[]>;
}
