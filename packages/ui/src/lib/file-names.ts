import { queryOptions } from '@tanstack/react-query';
import { client } from './api.ts';

const pages = 5;
const pageSize = 1000;

export interface FileNames {
  readonly paths: readonly string[];
  /** Whether these are all files of the ref. */
  readonly complete: boolean;
}

/** The first files of a ref, to look for names in. */
export function fileNamesQuery(repository: string, ref: string) {
  return queryOptions({
    queryKey: ['file-names', repository, ref],
    async queryFn({ signal }): Promise<FileNames> {
      const paths: string[] = [];
      let after = '';
      for (let page = 0; page < pages; page++) {
        const { results, pagination } = await client.get('/repositories/{repository}/refs/{ref}/objects/ls', {
          params: { path: { repository, ref }, query: { after, amount: pageSize, user_metadata: false } },
          signal,
        });
        for (const { path } of results) paths.push(path);
        if (!pagination.has_more) return { paths, complete: true };
        after = pagination.next_offset;
      }
      return { paths, complete: false };
    },
    staleTime: 60_000,
  });
}
