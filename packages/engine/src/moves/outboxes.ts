import type { EngineContext } from '../context/engine-context.ts';
import type { Outboxes } from '../face/outboxes.ts';
import { listForCleaner } from '../staging/tokens.ts';
import { gravelerPartition, repositoryPartition } from '../store/keys.ts';

/** `-` and the uid of an instance. */
const instanceSuffix = 21;

export function outboxes(context: EngineContext): Outboxes {
  return {
    async *partitions() {
      yield gravelerPartition;
      for await (const data of context.repositories.list('', '')) {
        yield repositoryPartition(data.id, data.instanceUid);
      }
    },
    async isThere(partition) {
      if (partition.equals(gravelerPartition)) return true;
      const name = partition.toString();
      const stored = await context.repositories.read(name.slice(0, -instanceSuffix));
      return stored?.data.instanceUid === name.slice(1 - instanceSuffix);
    },
    retireTokens: (tokens) => listForCleaner(context, tokens),
  };
}
