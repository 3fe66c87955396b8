import type { MetaRange } from '../format/meta-range.ts';
import { Pace } from '../pace.ts';
import type { Namespace } from '../store/namespace.ts';
import type { TableStore } from '../store/table-store.ts';
import type { TreeRange, UseValue } from '../tree.ts';

export function rangesOf(meta: MetaRange): TreeRange[] {
  return Array.from({ length: meta.count }, (_, index) => ({
    id: meta.id(index),
    minKey: meta.minKey(index),
    maxKey: meta.maxKey(index),
    count: meta.recordCount(index),
  }));
}

/** Shows every value of a range. */
export async function visitRange(
  store: TableStore,
  namespace: Namespace,
  id: string,
  use: UseValue,
  pause?: () => Promise<void>,
): Promise<void> {
  const lease = await store.openRange(namespace, id);
  const pace = new Pace();
  let records = 0;
  const counted: UseValue = (bytes, start, end) => {
    records += 1;
    use(bytes, start, end);
  };
  try {
    const values = lease.values();
    while (values.nextBlock(counted)) {
      if (pace.due(records)) {
        await pause?.();
        await pace.pause();
      }
      records = 0;
    }
  } finally {
    lease.release();
  }
}
