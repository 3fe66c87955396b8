import { client } from '../../lib/api.ts';
import type { DeletedRef } from '../../lib/api.ts';

/** Makes a deleted branch or tag again where it pointed last, or where it pointed before a given deletion. */
export function undelete(
  repository: string,
  { type, id }: Pick<DeletedRef, 'type' | 'id'>,
  options: { readonly as?: string; readonly moveId?: string } = {},
) {
  const { as = id, moveId } = options;
  return client.post('/repositories/{repository}/undelete', {
    params: { path: { repository } },
    body: { type, id, ...(as !== id && { as }), ...(moveId !== undefined && { move_id: moveId }) },
  });
}
