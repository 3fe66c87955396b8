/** What one round of a job is told. */
export interface JobRound {
  /** Ask before each step that changes something; false ends the round. */
  mayGoOn(): Promise<boolean>;
}

/** Work that no request asks for, done now and then. */
export interface Job {
  readonly name: string;
  /** From the start of one round to the start of the next; rounds never overlap. */
  readonly everyMs: number;
  /** Of all servers on the same stores, only the holder of the lease of this name runs the job; absent: each does. */
  readonly lease?: string | undefined;
  /** Begins the job here, without anything remembered from before; what it answers does one round. */
  begin(): (round: JobRound) => Promise<unknown>;
}

/** A round that nobody ends. */
export const wholeRound: JobRound = { mayGoOn: () => Promise.resolve(true) };
