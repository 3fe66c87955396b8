import type { MessageOf, WithUnknownFields } from './fields.ts';
import { flag, message, text, timestamp } from './fields.ts';

export const runResultMessage = message({
  runId: text(1),
  branchId: text(2),
  commitId: text(3),
  sourceRef: text(4),
  eventType: text(5),
  startTime: timestamp(6),
  endTime: timestamp(7),
  passed: flag(8),
});
export type RunResultData = MessageOf<typeof runResultMessage> & WithUnknownFields;

export const taskResultMessage = message({
  runId: text(1),
  hookRunId: text(2),
  hookId: text(3),
  actionName: text(4),
  startTime: timestamp(5),
  endTime: timestamp(6),
  passed: flag(9),
});
export type TaskResultData = MessageOf<typeof taskResultMessage> & WithUnknownFields;
