import { bindingMessage, timestampToMillis } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import type { Bindings } from '../face/bindings.ts';
import { gravelerPartition, viewsPrefix } from '../store/keys.ts';
import { moveBinding, readStored } from './binding-store.ts';

/** A view is written before its key: until then the key may be on its way. */
const youngMs = 3_600_000;

export async function removeUnusedViews(
  context: EngineContext,
  { isUsed, round }: Parameters<Bindings['removeUnusedViews']>[0],
): Promise<void> {
  for await (const page of context.kv.scan(gravelerPartition, { prefix: viewsPrefix })) {
    for (const { key, value } of page) {
      const id = key.subarray(viewsPrefix.length).toString();
      const { updatedAt } = bindingMessage.decode(value);
      if (timestampToMillis(updatedAt) > context.clock() - youngMs || (await isUsed(id))) continue;
      if (!(await round.mayGoOn())) return;
      const slot = { type: 'view', id } as const;
      const before = await readStored(context, slot);
      // Somebody has set it since: it is young again.
      if (before === undefined || !bindingMessage.encode(before.data).equals(value)) continue;
      const actor = { committer: 'svc' };
      await moveBinding(context, slot, { kind: 'delete', before, after: undefined, actor });
    }
  }
}
