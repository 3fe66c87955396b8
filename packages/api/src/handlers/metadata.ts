import { Answer } from '../answer/answer.ts';
import type { HandlersOf } from '../call.ts';
import type { ApiOptions } from '../options.ts';

export function metadataHandlers({ engine: { metadata } }: ApiOptions): HandlersOf<'metadata'> {
  async function locate(repository: string, type: 'range' | 'meta_range', id: string): Promise<Answer> {
    const location = await metadata.location({ repository, type, id });
    // The id is the caller's text and may contain characters that a header must not.
    return Answer.json(200, { location }, { location: encodeURI(location) });
  }
  return {
    getMetaRange: ({ params }) => locate(params.repository, 'meta_range', params.meta_range),
    getRange: ({ params }) => locate(params.repository, 'range', params.range),
  };
}
