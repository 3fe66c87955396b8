import type { EngineContext } from '../context/engine-context.ts';
import type { Outboxes } from '../face/outboxes.ts';
import { listForCleaner } from '../staging/tokens.ts';
import { listTrash } from '../store/deleted-repositories.ts';
import { deletedRepositoryKey, gravelerPartition, repositoryPartition } from '../store/keys.ts';

/** `-` and the uid of an instance. */
const instanceSuffix = 21;

export function outboxes(context: EngineContext): Outboxes {
  return {
    async *partitions() {
      yield gravelerPartition;
      for await (const data of context.repositories.list('', '')) {
        yield repositoryPartition(data.id, data.instanceUid);
      }
      // What happened just before a deletion is told, too.
      for await (const { repository } of listTrash(context)) {
        yield repositoryPartition(repository.id, repository.instanceUid);
      }
    },
    async isThere(partition) {
      if (partition.equals(gravelerPartition)) return true;
      const name = partition.toString();
      const [id, instanceUid] = [name.slice(0, -instanceSuffix), name.slice(1 - instanceSuffix)];
      const stored = await context.repositories.read(id);
      if (stored?.data.instanceUid === instanceUid) return true;
      const deleted = await context.kv.get(gravelerPartition, deletedRepositoryKey(id, instanceUid));
      return deleted !== undefined;
    },
    retireTokens: (tokens) => listForCleaner(context, tokens),
  };
}
