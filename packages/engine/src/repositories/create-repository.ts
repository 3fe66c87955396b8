import { BlockError, type BlockAdapter } from '@svc/block';
import {
  emptyStringMap,
  repositoryActive,
  repositoryInDeletion,
  timestampFromMillis,
  type RepositoryData,
} from '@svc/encoding';
import { readBinding } from '../bindings/binding-store.ts';
import { addBranch } from '../branches/create-branch.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { invalid } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import { noteForeignKnown } from '../gc/foreign.ts';
import type { Actor, Repository } from '../face/model.ts';
import type { CreateRepositoryOptions } from '../face/repositories.ts';
import { gravelerPartition } from '../store/keys.ts';
import { checkNewBranchName, checkRepositoryName, checkRoomForKeys } from '../names/names.ts';
import { populateSampleData } from '../sample/populate.ts';
import { inDeletion } from '../store/repository-store.ts';
import { makeCommit } from '../store/commit-store.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { checkMayTakeOver, forgetFormerNamespace } from './former-namespaces.ts';
import { displaceDeleted, type Displaced } from './displaced.ts';
import { leftMark } from './left-mark.ts';
import { detectMetadataPrefix, markNamespace, type NamespaceMarks } from './namespace-check.ts';
import { releaseNamespace, reserveNamespace, trimSlash } from './namespaces.ts';

const namespacePattern = /^(s3|gs|https?|mem|local|transient):\/\/.*$/;

/** Creates a repository: reserve and check the namespace, first commit, default branch, and the record last. */
export async function createRepository(
  context: EngineContext,
  options: CreateRepositoryOptions,
): Promise<Repository> {
  const { name, storageNamespace } = options;
  const bare = options.bare === true;
  const readOnly = options.readOnly === true;
  const sampleData = options.sampleData === true && !bare;
  const defaultBranchId = options.defaultBranch ?? 'main';
  checkRepositoryName(name);
  checkNewBranchName(defaultBranchId, 'default_branch');
  checkRoomForKeys(context.kv, gravelerPartition, defaultBranchId, 'default_branch');
  checkRoomForKeys(context.kv, gravelerPartition, storageNamespace, 'storage_namespace');
  await checkNameFree(context, name);
  const adapter = findAdapter(context, options.storageId);
  const storageId = options.storageId ?? adapter.info.storageId;
  await checkNamespace(context, adapter, storageNamespace);
  const canonical = trimSlash(await adapter.canonicalUri(storageNamespace));
  await options.checkAttach?.([trimSlash(storageNamespace), ...adapter.spellings(canonical)]);
  await checkMayTakeOver(context, adapter, canonical, options);

  await reserveNamespace(context, adapter, storageId, storageNamespace, name);
  let marks: NamespaceMarks | undefined;
  let displaced: Displaced | undefined;
  let scope: RepositoryScope | undefined;
  try {
    const checked = !bare && !readOnly;
    const metadataPrefix = checked
      ? context.settings.metadataPrefix
      : await detectMetadataPrefix(adapter, storageNamespace, context.settings.metadataPrefix);
    if (checked) {
      const left = leftMark(context.kv, storageId, storageNamespace);
      marks = await markNamespace(adapter, storageNamespace, context.settings, left);
    }
    const data: RepositoryData = {
      id: name,
      storageNamespace,
      defaultBranchId,
      creationDate: timestampFromMillis(context.clock()),
      state: repositoryActive,
      instanceUid: context.xids.next(),
      // Sample data is committed before the flag is set.
      readOnly: readOnly && !sampleData,
      storageId,
      metadataPrefix,
    };
    scope = context.repositories.scopeOf(data);
    displaced = await displaceDeleted(context, adapter, canonical, name);
    if (bare) await context.moves.since(scope);
    else {
      await createDefaultBranch(context, scope, options.actor);
      await noteForeignKnown(context, scope);
    }
    const move = context.moves.planOfRepository('create', name, options.actor);
    if (!(await context.repositories.create(data, move))) throw notUnique();
    await checkNoAlias(context, data, options.actor);
    await forgetFormerNamespace(context, storageId, storageNamespace);
    await context.repositories.forget(name);
    await context.namespaces.forget(storageId);
    if (sampleData) {
      await populateSampleData(context, scope, options.actor);
      if (readOnly) await setReadOnly(context, name);
    }
    return { ...scope.repository, readOnly };
  } catch (error) {
    if (error instanceof EngineError && error.kind === 'already_exists') {
      // Another creation of the same name won; what it shares with ours stays.
      if (scope !== undefined) await removeRecords(context, scope);
      const winner = await context.repositories.read(name);
      if (winner?.data.storageNamespace !== storageNamespace) {
        await marks?.remove();
        await displaced?.undo();
        await releaseNamespace(context, storageId, storageNamespace, name);
      }
      throw error;
    }
    if ((await context.repositories.read(name)) === undefined) {
      await marks?.remove();
      await displaced?.undo();
      if (scope !== undefined) await removeRecords(context, scope);
      await releaseNamespace(context, storageId, storageNamespace, name);
    }
    throw error;
  }
}

async function checkNameFree(context: EngineContext, name: string): Promise<void> {
  const existing = await context.repositories.read(name);
  if (existing === undefined) return checkNotAlias(context, name);
  if (existing.data.state === repositoryInDeletion) throw inDeletion();
  throw notUnique();
}

async function checkNotAlias(context: EngineContext, name: string): Promise<void> {
  if ((await readBinding(context, { type: 'alias', id: name })) !== undefined) {
    throw new EngineError('already_exists', `an alias '${name}' exists`, { subject: 'alias' });
  }
}

/** An alias of this name may have been made at the same time: then this creation takes itself back. */
async function checkNoAlias(context: EngineContext, data: RepositoryData, actor: Actor): Promise<void> {
  try {
    await checkNotAlias(context, data.id);
  } catch (error) {
    const stored = await context.repositories.read(data.id);
    if (stored?.data.instanceUid === data.instanceUid) {
      // Its creation may have been told of already.
      const { writes } = context.moves.planOfRepository('delete', data.id, actor);
      await context.repositories.removeWith(stored, writes);
    }
    throw error;
  }
}

function notUnique(): EngineError {
  return new EngineError('already_exists', 'error creating repository: not unique', {
    subject: 'repository',
  });
}

function findAdapter(context: EngineContext, storageId: string | undefined): BlockAdapter {
  try {
    return context.blockStores.get(storageId ?? '');
  } catch (error) {
    throw invalid(`storage id: invalid value: ${messageOf(error)}`, 'storage');
  }
}

async function checkNamespace(
  context: EngineContext,
  adapter: BlockAdapter,
  storageNamespace: string,
): Promise<void> {
  const expected = adapter.info.namespaceValidityRegex;
  if (!namespacePattern.test(storageNamespace) || !new RegExp(expected).test(storageNamespace)) {
    throw invalid(`failed to match required regex ${expected}: invalid namespace`, 'namespace');
  }
  // Two spellings of one folder would slip past comparisons of namespaces.
  if (/(^|\/)\.{1,2}(\/|$)/.test(storageNamespace.slice(storageNamespace.indexOf('://') + 3))) {
    throw invalid('storage namespace must not have . or .. segments', 'namespace');
  }
  try {
    adapter.validateNamespace(storageNamespace);
    const { requiredRegion } = context.settings;
    if (requiredRegion === undefined) return;
    const region = await adapter.region(storageNamespace);
    if (region !== undefined && region !== requiredRegion) {
      throw invalid(
        `storage namespace lies in region ${region}, this installation in ${requiredRegion}: use a bucket there or set installation.allow_inter_region_storage`,
        'namespace',
      );
    }
  } catch (error) {
    if (error instanceof BlockError && !error.retryable) throw invalid(error.message, 'namespace');
    throw error;
  }
}

async function createDefaultBranch(
  context: EngineContext,
  scope: RepositoryScope,
  actor: Actor,
): Promise<void> {
  const { repository } = scope;
  const commit = makeCommit({
    committer: '',
    message: 'Repository created',
    creationDate: repository.creationDate,
    metaRangeId: '',
    parents: [],
    metadata: emptyStringMap,
    version: 1,
    generation: 1,
  });
  await context.commits.add(scope, commit);
  const id = repository.defaultBranch;
  await addBranch(context, scope, {
    kind: 'create',
    type: 'branch',
    id,
    to: commit.id,
    actor,
    hidden: false,
  });
}

async function setReadOnly(context: EngineContext, name: string): Promise<void> {
  for (;;) {
    const stored = await context.repositories.read(name);
    if (stored === undefined) return;
    if (await context.repositories.replace(stored, { ...stored.data, readOnly: true })) break;
  }
  await context.repositories.forget(name);
}

async function removeRecords(context: EngineContext, scope: RepositoryScope): Promise<void> {
  for await (const page of context.kv.scan(scope.partition)) {
    for (const { key } of page) await context.kv.delete(scope.partition, key);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
