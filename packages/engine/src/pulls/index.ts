import { pullMerged, pullOpen, runTimeBase, timestampFromMillis, type PullRequestData } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { collectPage } from '../context/page.ts';
import { invalid } from '../context/refusals.ts';
import type { Merges } from '../face/merges.ts';
import type { CreatePullOptions, PullRequest, Pulls, PullStatus, UpdatePullOptions } from '../face/pulls.ts';
import { checkBranchName } from '../names/names.ts';
import { checkTexts } from '../names/text-limits.ts';
import { mergePull } from './merge-pull.ts';
import { addPull, changePull, listPulls, readPull, statusNumbers, toPullRequest } from './pull-store.ts';

export function pulls(context: EngineContext, merges: Merges): Pulls {
  return {
    create: (options) => createPull(context, options),
    get: async ({ repository, id }) => {
      const scope = await context.repositories.open(repository);
      return toPullRequest(await readPull(context, scope, id));
    },
    list: async ({ repository, status = 'all', prefix = '', after = '', amount }) => {
      const scope = await context.repositories.open(repository);
      async function* shown(): AsyncGenerator<PullRequest> {
        for await (const data of listPulls(context, scope, prefix, after)) {
          const isOpen = data.status === pullOpen;
          if (status === 'all' || isOpen === (status === 'open')) yield toPullRequest(data);
        }
      }
      return collectPage(shown(), amount, (pull) => pull.id);
    },
    update: (options) => updatePull(context, options),
    merge: (options) => mergePull(context, merges, options),
  };
}

async function createPull(context: EngineContext, options: CreatePullOptions): Promise<PullRequest> {
  const { source, destination } = options;
  checkBranchName(source, 'source_branch');
  checkBranchName(destination, 'destination_branch');
  checkPullTexts(options);
  const scope = await context.repositories.open(options.repository);
  await context.branches.get(scope, source);
  await context.branches.get(scope, destination);
  if (source === destination) {
    throw invalid('source and destination branches are the same: same branch', 'pull_request');
  }
  const data: PullRequestData = {
    id: context.xids.nextDescending(runTimeBase),
    status: pullOpen,
    createdAt: timestampFromMillis(context.clock()),
    title: options.title,
    author: options.actor.committer,
    description: options.description ?? '',
    sourceBranch: source,
    destinationBranch: destination,
    commitId: undefined,
    closedAt: undefined,
  };
  await addPull(context, scope, data, options.actor);
  return toPullRequest(data);
}

function checkPullTexts({
  title = '',
  description = '',
}: Pick<UpdatePullOptions, 'title' | 'description'>): void {
  checkTexts('title and description', 'pull_request', [title, description]);
}

async function updatePull(context: EngineContext, options: UpdatePullOptions): Promise<PullRequest> {
  checkPullTexts(options);
  const scope = await context.repositories.open(options.repository);
  const status = options.status === undefined ? undefined : parseStatus(options.status);
  const changed = await changePull(context, scope, options.id, options.actor, (data) => ({
    ...data,
    title: options.title ?? data.title,
    description: options.description ?? data.description,
    ...(status !== undefined && {
      status: statusNumbers[status],
      closedAt: status === 'open' ? undefined : timestampFromMillis(context.clock()),
      // Only a real merge names a commit; one merged earlier keeps its commit.
      commitId: statusNumbers[status] === pullMerged ? data.commitId : undefined,
    }),
  }));
  return toPullRequest(changed);
}

function parseStatus(status: string): PullStatus {
  const known = status.toLowerCase();
  if (known === 'open' || known === 'closed' || known === 'merged') return known;
  throw invalid(
    `argument status: invalid value: validation error: '${status}' is not open, closed or merged`,
    'pull_request',
  );
}
