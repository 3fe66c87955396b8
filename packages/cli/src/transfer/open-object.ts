import type { Connection } from '../http/connection.ts';
import { expectStatus } from '../http/refusal.ts';
import type { HttpResponse } from '../http/http-sender.ts';

export interface ObjectToOpen {
  readonly repository: string;
  readonly ref: string;
  readonly path: string;
  readonly presign: boolean;
  readonly offset?: number;
  readonly signal?: AbortSignal | undefined;
}

/** GET of an object, following the way to the store without taking our credentials along. */
export async function openObject(connection: Connection, object: ObjectToOpen): Promise<HttpResponse> {
  const { repository, ref, path, presign, offset = 0, signal } = object;
  const headers: Record<string, string> = offset > 0 ? { range: `bytes=${offset}-` } : {};
  const place = `/repositories/${encodeURIComponent(repository)}/refs/${encodeURIComponent(ref)}/objects`;
  const query = `path=${encodeURIComponent(path)}${presign ? '&presign=true' : ''}`;
  let answer = await connection.api({ method: 'GET', path: `${place}?${query}`, headers, signal });
  const { location } = answer.headers;
  if (answer.status >= 300 && answer.status < 400 && location !== undefined) {
    answer.stream.resume();
    const url = new URL(location, connection.apiUrl).href;
    answer = await connection.sender.send({ method: 'GET', url, headers, signal });
  }
  await expectStatus(answer, 200, 206);
  return answer;
}
