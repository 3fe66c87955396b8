import { expectStatus } from './answers.ts';
import type { ObjectLocation } from './location.ts';
import type { Answer } from './sender.ts';
import type { Transport } from './transport.ts';

export interface OpenOptions extends ObjectLocation {
  /** Read straight from the object store. */
  readonly presign?: boolean | undefined;
  /** Inclusive bounds; `end` absent is to the end of the object. */
  readonly range?: { readonly start: number; readonly end?: number | undefined } | undefined;
  /** The answer is 304 when the object still has this ETag. */
  readonly ifNoneMatch?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Opens an object to read, at the object store when the server points there. */
export async function openObject<Payload, Stream>(
  transport: Transport<Payload, Stream>,
  options: OpenOptions,
): Promise<Answer<Stream>> {
  const { repository, ref, path, presign, range, ifNoneMatch, signal } = options;
  const headers = {
    ...(range !== undefined && { range: `bytes=${range.start}-${range.end ?? ''}` }),
    ...(ifNoneMatch !== undefined && { 'if-none-match': ifNoneMatch }),
  };
  let answer = await transport.call({
    method: 'GET',
    path: '/repositories/{repository}/refs/{ref}/objects',
    params: { path: { repository, ref }, query: { path, presign: presign === true ? true : undefined } },
    headers,
    signal,
  });
  const location = answer.header('location');
  if (answer.status >= 300 && answer.status < 400 && location !== undefined) {
    answer.discard();
    const { href } = new URL(location, transport.apiUrl);
    answer = await transport.store({ method: 'GET', url: href, headers, signal });
  }
  await expectStatus(answer, 200, 206, ...(ifNoneMatch === undefined ? [] : [304]));
  return answer;
}
