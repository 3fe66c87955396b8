import { deletedRepositoryMessage, type DeletedRepositoryData, type RepositoryData } from '@svc/encoding';
import type { KvStore } from '@svc/kv';
import { deletedRepositoriesPrefix, gravelerPartition } from './keys.ts';

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

function storedOf(key: Buffer, value: Buffer): StoredDeletedRepository | undefined {
  const data = deletedRepositoryMessage.decode(value);
  return data.repository === undefined ? undefined : { repository: data.repository, data, key, value };
}
