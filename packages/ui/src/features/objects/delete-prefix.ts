import { client } from '../../lib/api.ts';

/** Deletes every object under a prefix, a thousand at a time; tells how many. */
export async function deletePrefix(repository: string, branch: string, prefix: string): Promise<number> {
  let deleted = 0;
  for (let after = ''; ;) {
    const { pagination, results } = await client.get('/repositories/{repository}/refs/{ref}/objects/ls', {
      params: {
        path: { repository, ref: branch },
        query: { prefix, after, amount: 1000, user_metadata: false },
      },
    });
    if (results.length > 0) {
      const { errors } = await client.post('/repositories/{repository}/branches/{branch}/objects/delete', {
        params: { path: { repository, branch } },
        body: { paths: results.map(({ path }) => path) },
      });
      const [failure] = errors;
      if (failure !== undefined) throw new Error(`${failure.path ?? prefix}: ${failure.message}`);
      deleted += results.length;
    }
    if (!pagination.has_more) return deleted;
    after = pagination.next_offset;
  }
}
