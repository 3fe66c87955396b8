import type { Timestamp } from '@svc/encoding';

/** One event and what came of its hooks. */
export interface Run {
  readonly runId: string;
  readonly branchId: string;
  readonly sourceRef: string;
  readonly eventType: string;
  readonly commitId: string;
  readonly startTime: Timestamp;
  readonly endTime: Timestamp;
  readonly passed: boolean;
  /** The run that somebody wanted once more. */
  readonly rerunOf?: string | undefined;
}

/** One hook of a run. */
export interface Task {
  readonly runId: string;
  readonly hookRunId: string;
  readonly hookId: string;
  readonly actionName: string;
  /** `never` when the hook was skipped. */
  readonly startTime: Timestamp;
  readonly endTime: Timestamp;
  readonly passed: boolean;
}

/** The first second of the year 1: what skipped hooks have as their time. */
export const never: Timestamp = { seconds: -62_135_596_800, nanos: 0 };

export function isSkipped(task: Task): boolean {
  return task.startTime.seconds === never.seconds;
}

/** The time of a record as text, with all its digits. */
export function timeText({ seconds, nanos }: Timestamp): string {
  const fraction = nanos === 0 ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`;
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}${fraction}Z`;
}

/** Run ids count the seconds down to this moment, so that the newest sort first. */
export const runIdBase = 32_500_915_200;
