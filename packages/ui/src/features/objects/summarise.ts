import { client } from '../../lib/api.ts';

export interface Summary {
  readonly objects: number;
  readonly bytes: number;
  readonly complete: boolean;
}

const limit = 100_000;

/** Counts what is under a prefix, up to a limit. */
export async function summarise(repository: string, ref: string, prefix: string): Promise<Summary> {
  let objects = 0;
  let bytes = 0;
  for (let after = ''; ;) {
    const { pagination, results } = await client.get('/repositories/{repository}/refs/{ref}/objects/ls', {
      params: { path: { repository, ref }, query: { prefix, after, amount: 1000, user_metadata: false } },
    });
    objects += results.length;
    for (const { size_bytes = 0 } of results) bytes += size_bytes;
    if (!pagination.has_more) return { objects, bytes, complete: true };
    if (objects >= limit) return { objects, bytes, complete: false };
    after = pagination.next_offset;
  }
}
