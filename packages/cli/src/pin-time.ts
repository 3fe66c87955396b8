import { ApiError, type Calls } from '@svc/client';
import type { RefUri } from './uri.ts';

/** Nothing but a time follows an `@` inside a ref. */
const atTime = /^[^~^@$]+@./;

/**
 * The commit that a ref at a time stands for now, so that all pages and files of a command show one state: `main@2h` is
 * another moment with every request. Other refs stay as they are.
 */
export async function pinTime<Place extends RefUri>(client: Calls, uri: Place): Promise<Place> {
  if (!atTime.test(uri.ref)) return uri;
  const { repository, ref } = uri;
  try {
    const resolved = await client.get('/repositories/{repository}/refs/{ref}/resolve', {
      params: { path: { repository, ref } },
    });
    return { ...uri, ref: resolved.commit_id };
  } catch (error) {
    // Who may not read commits may still read what they hold.
    if (error instanceof ApiError && error.status === 401) return uri;
    throw error;
  }
}
