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
      // What happened before a deletion is told after it, if need be.
      for await (const { repository } of listTrash(context)) {
        yield repositoryPartition(repository.id, repository.instanceUid);
      }
    },
    async isThere(partition) {
      if (partition.equals(gravelerPartition)) return true;
      const name = partition.toString();
      const id = name.slice(0, -instanceSuffix);
      const instanceUid = name.slice(1 - instanceSuffix);
      if (id === '') return false;
      const stored = await context.repositories.read(id);
      if (stored?.data.instanceUid === instanceUid) return true;
      return (await context.kv.get(gravelerPartition, deletedRepositoryKey(id, instanceUid))) !== undefined;
    },
    retireTokens: (tokens) => listForCleaner(context, tokens),
  };
}
