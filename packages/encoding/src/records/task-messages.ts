import type { MessageOf, WithUnknownFields } from './fields.ts';
import { embedded, flag, int32, integer, message, text, timestamp } from './fields.ts';
import { commitMessage } from './repository-messages.ts';

export const taskMessage = message({
  id: text(1),
  done: flag(2),
  updatedAt: timestamp(3),
  progress: integer(4),
  errorMessage: text(5),
  statusCode: int32(6),
  operation: text(7),
  ownerInstanceId: text(8),
});
export type Task = MessageOf<typeof taskMessage>;

/** What every task status starts with; enough to sweep tasks of any kind. */
export const taskStatusMessage = message({ task: embedded(1, taskMessage) });
export type TaskStatus = MessageOf<typeof taskStatusMessage> & WithUnknownFields;

export const dumpInfoMessage = message({
  commitsMetaRangeId: text(1),
  tagsMetaRangeId: text(2),
  branchesMetaRangeId: text(3),
});

export const dumpStatusMessage = message({
  task: embedded(1, taskMessage),
  info: embedded(2, dumpInfoMessage),
});
export type RepositoryDumpStatus = MessageOf<typeof dumpStatusMessage>;

export const restoreStatusMessage = taskStatusMessage;
export type RepositoryRestoreStatus = TaskStatus;

export const gcPrepareInfoMessage = message({
  runId: text(1),
  commitsLocation: text(2),
  addressesLocation: text(3),
});

export const gcPrepareStatusMessage = message({
  task: embedded(1, taskMessage),
  info: embedded(2, gcPrepareInfoMessage),
});
export type GarbageCollectionPrepareStatus = MessageOf<typeof gcPrepareStatusMessage>;

export const commitAsyncStatusMessage = message({
  task: embedded(1, taskMessage),
  info: embedded(2, commitMessage),
});
export type CommitAsyncStatusData = MessageOf<typeof commitAsyncStatusMessage>;

export const mergeAsyncStatusMessage = message({
  task: embedded(1, taskMessage),
  info: embedded(2, message({ reference: text(1) })),
});
export type MergeAsyncStatusData = MessageOf<typeof mergeAsyncStatusMessage>;

export const instanceHeartbeatMessage = message({ updatedAt: timestamp(1) });
export type InstanceHeartbeat = MessageOf<typeof instanceHeartbeatMessage>;
