import { branchMessage, commitMessage, tagMessage, type BranchData } from '@svc/encoding';
import type { DumpProperties, TreeRecord } from '../committed/tree.ts';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import type { RefsManifest } from '../face/dumps.ts';
import { branchesPrefix, commitsPrefix, tagsPrefix } from '../store/keys.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { branchDump, commitDump, tagDump } from './dump-schemas.ts';
import { PageRecords } from './page-records.ts';

/** The log of a ref stays with its repository. */
const none = Buffer.alloc(0);

/** Writes all refs as three trees. Commits come last, so no dumped branch or tag misses its commit. */
export async function dumpRefs(context: EngineContext, scope: RepositoryScope): Promise<RefsManifest> {
  const tagsMetaRangeId = await writeDump(context, scope, tagsPrefix, tagDump, (value) => {
    const { id, commitId } = tagMessage.decode(value);
    return { id, commitId, data: tagMessage.encode({ id, commitId, lastMove: none }) };
  });
  const branchesMetaRangeId = await writeDump(context, scope, branchesPrefix, branchDump, (value) => {
    const { id, commitId, hidden } = branchMessage.decode(value);
    const bare: BranchData = { id, commitId, hidden, stagingToken: '', sealedTokens: [], lastMove: none };
    return { id, commitId, data: branchMessage.encode(bare) };
  });
  const commitsMetaRangeId = await writeDump(context, scope, commitsPrefix, commitDump, (value) => {
    const { id } = commitMessage.decode(value);
    return { id, commitId: id, data: value };
  });
  return { commitsMetaRangeId, tagsMetaRangeId, branchesMetaRangeId };
}

interface DumpedRef {
  readonly id: string;
  readonly commitId: string;
  readonly data: Buffer;
}

async function writeDump(
  context: EngineContext,
  scope: RepositoryScope,
  prefix: Buffer,
  properties: DumpProperties,
  decode: (value: Buffer) => DumpedRef,
): Promise<string> {
  async function* pages(): AsyncGenerator<TreeRecord[]> {
    for await (const page of context.kv.scan(scope.partition, { prefix })) {
      yield page.map(({ value }) => {
        const { id, commitId, data } = decode(value);
        return { key: Buffer.from(id), identity: Buffer.from(commitId), data };
      });
    }
  }
  const { metaRangeId } = await context.trees.write(scope.committed, new PageRecords(pages()), properties);
  return metaRangeId;
}

/** Leaves the manifest in the namespace, where an adopting server finds it. */
export async function writeManifest(
  context: EngineContext,
  scope: RepositoryScope,
  manifest: RefsManifest,
): Promise<void> {
  const text = JSON.stringify(
    {
      branches_meta_range_id: manifest.branchesMetaRangeId,
      commits_meta_range_id: manifest.commitsMetaRangeId,
      tags_meta_range_id: manifest.tagsMetaRangeId,
    },
    null,
    2,
  );
  await adapterOf(context, scope).put(
    {
      storageNamespace: scope.repository.storageNamespace,
      identifier: `${scope.committed.metadataPrefix}/refs_manifest.json`,
      identifierType: 'relative',
    },
    Buffer.from(text),
  );
}
