import type { HandlersOf } from '../call.ts';
import type { ApiOptions } from '../options.ts';
import { refView } from '../views/commit.ts';
import { pageView } from '../views/page.ts';
import { pageRequest } from './shared/page-request.ts';

export function tagHandlers({ engine: { tags } }: ApiOptions): HandlersOf<'tags'> {
  return {
    async listTags({ params, query }) {
      const { search } = query;
      const page = await tags.list({ repository: params.repository, ...pageRequest(query), search });
      return pageView(page, refView);
    },

    async createTag({ params, body, actor }) {
      const { id, ref, force } = body;
      return refView(await tags.create({ repository: params.repository, id, ref, force, actor }));
    },

    async getTag({ params }) {
      return refView(await tags.get({ repository: params.repository, id: params.tag }));
    },

    async deleteTag({ params, query, actor }) {
      await tags.delete({ repository: params.repository, id: params.tag, force: query.force, actor });
    },
  };
}
