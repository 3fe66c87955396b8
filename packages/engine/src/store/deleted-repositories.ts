import { deletedRepositoryMessage, type DeletedRepositoryData, type RepositoryData } from '@svc/encoding';
import type { KvStore } from '@svc/kv';
import { deletedRepositoriesPrefix, deletedRepositoryKey, gravelerPartition } from './keys.ts';

/** A repository in the trash, as stored. */
export interface StoredDeletedRepository {
  readonly repository: RepositoryData;
  readonly data: DeletedRepositoryData;
  readonly key: Buffer;
  readonly value: Buffer;
}

/** In the order of names, then of instances; `after` is `<name>/<instance>`. */
export async function* listTrash(
  { kv }: { readonly kv: KvStore },
  prefix = '',
  after = '',
): AsyncGenerator<StoredDeletedRepository> {
  const start = Buffer.concat([deletedRepositoriesPrefix, Buffer.from(prefix)]);
  const range = {
    prefix: start,
    ...(after === '' ? {} : { after: Buffer.concat([deletedRepositoriesPrefix, Buffer.from(after)]) }),
  };
  for await (const page of kv.scan(gravelerPartition, range)) {
    for (const { key, value } of page) {
      const stored = storedOf(Buffer.from(key), Buffer.from(value));
      if (stored !== undefined) yield stored;
    }
  }
}

export async function readInTrash(
  { kv }: { readonly kv: KvStore },
  id: string,
  instanceUid: string,
): Promise<StoredDeletedRepository | undefined> {
  const key = deletedRepositoryKey(id, instanceUid);
  const found = await kv.get(gravelerPartition, key);
  return found === undefined ? undefined : storedOf(key, found.value);
}

function storedOf(key: Buffer, value: Buffer): StoredDeletedRepository | undefined {
  const data = deletedRepositoryMessage.decode(value);
  return data.repository === undefined ? undefined : { repository: data.repository, data, key, value };
}
