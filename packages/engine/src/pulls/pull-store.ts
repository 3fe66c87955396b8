import {
  parseXid,
  pullClosed,
  pullMerged,
  pullOpen,
  pullRequestMessage,
  secondaryIndexMessage,
  type NewEvent,
  type PullRequestData,
} from '@svc/encoding';
import { maxTries, pauseBetweenWrites } from '../context/back-off.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { invalid, notFound, tooManyAttempts } from '../context/refusals.ts';
import type { Actor } from '../face/model.ts';
import type { PullRequest, PullStatus } from '../face/pulls.ts';
import { userOf } from '../moves/move-log.ts';
import { pullsPartition } from '../store/keys.ts';
import type { RepositoryScope } from '../store/scope.ts';

const prefix = 'pulls/';

const statusNames: Readonly<Record<number, PullStatus>> = {
  [pullOpen]: 'open',
  [pullClosed]: 'closed',
  [pullMerged]: 'merged',
};

export const statusNumbers: Readonly<Record<PullStatus, number>> = {
  open: pullOpen,
  closed: pullClosed,
  merged: pullMerged,
};

export async function addPull(
  context: EngineContext,
  scope: RepositoryScope,
  data: PullRequestData,
  actor: Actor,
): Promise<void> {
  const key = pullKey(data.id);
  await context.kv.change(scope.partition, { key, condition: 'any' }, [
    { type: 'put', key, value: pullRequestMessage.encode(data) },
    context.told(pullEvent('created', data, actor)),
  ]);
  const index = `repos/${scope.partition.toString()}/${data.sourceBranch}/${data.destinationBranch}`;
  const pointer = secondaryIndexMessage.encode({ primaryKey: Buffer.from(data.id) });
  await context.kv.set(pullsPartition, Buffer.from(index), pointer);
}

export async function readPull(
  context: EngineContext,
  scope: RepositoryScope,
  id: string,
): Promise<PullRequestData> {
  checkPullId(id);
  const found = await context.kv.get(scope.partition, pullKey(id));
  if (found === undefined) throw notFound('pull_request');
  return pullRequestMessage.decode(found.value);
}

/** Changes a record by compare-and-set; `change` may refuse by throwing and runs again after a lost race. */
export async function changePull(
  context: EngineContext,
  scope: RepositoryScope,
  id: string,
  actor: Actor | undefined,
  change: (data: PullRequestData) => PullRequestData,
): Promise<PullRequestData> {
  checkPullId(id);
  for (let attempt = 0; attempt < maxTries; attempt += 1) {
    if (attempt > 0) await pauseBetweenWrites();
    const found = await context.kv.get(scope.partition, pullKey(id));
    if (found === undefined) throw notFound('pull_request');
    const before = pullRequestMessage.decode(found.value);
    const changed = change(before);
    const key = pullKey(id);
    const isChanged = await context.kv.change(scope.partition, { key, condition: found.predicate }, [
      { type: 'put', key, value: pullRequestMessage.encode(changed) },
      context.told(pullEvent(changeName(before, changed), changed, actor)),
    ]);
    if (isChanged) return changed;
    context.onRetry('pull-request');
  }
  throw tooManyAttempts();
}

function changeName(before: PullRequestData, after: PullRequestData): string {
  if (before.status === after.status) return 'edited';
  if (after.status === pullMerged) return 'merged';
  return after.status === pullOpen ? 'reopened' : 'closed';
}

function pullEvent(name: string, data: PullRequestData, actor: Actor | undefined): NewEvent {
  return {
    type: `svc.pull.${name}`,
    subject: `pull/${data.id}`,
    user: userOf(actor),
    data: {
      pull: data.id,
      source: data.sourceBranch,
      destination: data.destinationBranch,
      ...(name === 'merged' && data.commitId !== undefined && { commit_id: data.commitId }),
    },
  };
}

/** Ids start with a descending time, so key order is newest first. */
export async function* listPulls(
  context: EngineContext,
  scope: RepositoryScope,
  idPrefix: string,
  after: string,
): AsyncGenerator<PullRequestData> {
  const options = { prefix: pullKey(idPrefix), after: after === '' ? undefined : pullKey(after) };
  for await (const page of context.kv.scan(scope.partition, options)) {
    for (const { value } of page) yield pullRequestMessage.decode(value);
  }
}

export function toPullRequest(data: PullRequestData): PullRequest {
  return {
    id: data.id,
    title: data.title,
    description: data.description,
    author: data.author,
    source: data.sourceBranch,
    destination: data.destinationBranch,
    status: statusNames[data.status] ?? 'open',
    creationDate: data.createdAt,
    closedDate: data.closedAt,
    mergedCommitId: data.commitId,
  };
}

function checkPullId(id: string): void {
  if (parseXid(id) === undefined) {
    throw invalid('argument pull_request: invalid value: validation error', 'pull_request');
  }
}

function pullKey(id: string): Buffer {
  return Buffer.from(prefix + id);
}
