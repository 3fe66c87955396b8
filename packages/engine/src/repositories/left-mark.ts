import type { KvStore } from '@svc/kv';
import { gravelerPartition, leftMarkKey } from '../store/keys.ts';
import { trimSlash } from './namespaces.ts';

/**
 * What a failed creation wrote as the mark of a namespace and could not remove, because the store was gone by then. Only
 * that text tells a later creation that nobody uses the namespace.
 */
export interface LeftMark {
  read(): Promise<Buffer | undefined>;
  keep(text: Buffer): Promise<void>;
  forget(): Promise<void>;
}

export function leftMark(kv: KvStore, storageId: string, storageNamespace: string): LeftMark {
  const key = leftMarkKey(storageId, trimSlash(storageNamespace));
  return {
    read: async () => (await kv.get(gravelerPartition, key))?.value,
    keep: (text) => kv.set(gravelerPartition, key, text),
    forget: () => kv.delete(gravelerPartition, key),
  };
}
