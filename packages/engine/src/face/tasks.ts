import type { Timestamp } from '@svc/encoding';

/** State of an asynchronous operation. */
export interface TaskState {
  readonly id: string;
  readonly done: boolean;
  readonly updateTime: Timestamp;
  readonly progress: number;
  readonly error: string | undefined;
}

export interface Tasks {
  /** Removes tasks and imports untouched for 24 hours, in every repository. */
  removeExpired(): Promise<void>;
}
