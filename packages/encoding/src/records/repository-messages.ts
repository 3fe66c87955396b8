import type { MessageOf, WithUnknownFields } from './fields.ts';
import {
  bytes,
  embedded,
  flag,
  int32,
  int32Map,
  integer,
  message,
  messageMap,
  optionalText,
  optionalTimestamp,
  packedEnums,
  stringMap,
  text,
  texts,
  timestamp,
} from './fields.ts';

export const repositoryActive = 0;
export const repositoryInDeletion = 1;

export const repositoryMessage = message({
  id: text(1),
  storageNamespace: text(2),
  defaultBranchId: text(3),
  creationDate: timestamp(4),
  state: integer(5),
  instanceUid: text(6),
  readOnly: flag(7),
  storageId: text(8),
  metadataPrefix: text(1000),
});
export type RepositoryData = MessageOf<typeof repositoryMessage> & WithUnknownFields;

export const branchMessage = message({
  id: text(1),
  commitId: text(2),
  stagingToken: text(3),
  sealedTokens: texts(4),
  hidden: flag(5),
  /** Id of the record of its last move; empty when nobody recorded one. */
  lastMove: bytes(1000),
});
export type BranchData = MessageOf<typeof branchMessage> & WithUnknownFields;

export const tagMessage = message({ id: text(1), commitId: text(2), lastMove: bytes(1000) });
export type TagData = MessageOf<typeof tagMessage> & WithUnknownFields;

export const commitMessage = message({
  id: text(1),
  committer: text(2),
  message: text(3),
  creationDate: timestamp(4),
  metaRangeId: text(5),
  metadata: stringMap(6),
  parents: texts(7),
  version: int32(8),
  generation: int32(9),
});
export type CommitData = MessageOf<typeof commitMessage> & WithUnknownFields;

export const gcRulesMessage = message({ defaultRetentionDays: int32(1), branchRetentionDays: int32Map(2) });
export type GarbageCollectionRules = MessageOf<typeof gcRulesMessage>;

export const blockedStagingWrite = 0;
export const blockedCommit = 1;

const blockedActionsMessage = message({ value: packedEnums(1) });

export const protectionRulesMessage = message({ patterns: messageMap(1, blockedActionsMessage) });
export type BranchProtectionRules = MessageOf<typeof protectionRulesMessage> & WithUnknownFields;

export const importStatusMessage = message({
  id: text(1),
  completed: flag(2),
  updatedAt: timestamp(3),
  progress: integer(4),
  metaRangeId: text(5),
  commit: embedded(6, commitMessage),
  error: text(7),
});
export type ImportStatusData = MessageOf<typeof importStatusMessage> & WithUnknownFields;

export const repoMetadataMessage = message({ metadata: stringMap(1) });
export type RepoMetadata = MessageOf<typeof repoMetadataMessage> & WithUnknownFields;

export const linkAddressMessage = message({ address: text(1) });
export type LinkAddressData = MessageOf<typeof linkAddressMessage>;

export const pullOpen = 0;
export const pullClosed = 1;
export const pullMerged = 2;

export const pullRequestMessage = message({
  id: text(1),
  status: integer(2),
  createdAt: timestamp(3),
  title: text(4),
  author: text(5),
  description: text(6),
  sourceBranch: text(7),
  destinationBranch: text(8),
  commitId: optionalText(9),
  closedAt: optionalTimestamp(10),
});
export type PullRequestData = MessageOf<typeof pullRequestMessage> & WithUnknownFields;

/** Value of a metarange record: what one range covers. */
export const rangeMessage = message({
  minKey: bytes(1),
  maxKey: bytes(2),
  estimatedSize: integer(3),
  count: integer(4),
});
export type RangeData = MessageOf<typeof rangeMessage>;

export const commitNodeMessage = message({
  creationUsecs: integer(1),
  mainParent: text(2),
  metaRangeId: text(3),
});
export type CommitNode = MessageOf<typeof commitNodeMessage>;
