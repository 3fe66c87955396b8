import { client } from './api.ts';

/** Texts up to this size are edited in the browser. */
export const editableBytes = 256 * 1024;

export interface ObjectText {
  readonly text: string;
  /** False when only the start was read. */
  readonly complete: boolean;
}

interface ReadOptions {
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
}

/** The first bytes of an object, by a ranged read. */
export async function fetchStart(
  repository: string,
  ref: string,
  path: string,
  { limit, signal }: ReadOptions,
): Promise<{ bytes: Uint8Array; complete: boolean }> {
  const { size = 0 } = await client.objects.head({ repository, ref, path });
  if (size === 0) return { bytes: new Uint8Array(), complete: true };
  const complete = size <= limit;
  const { body } = await client.objects.download({
    repository,
    ref,
    path,
    ...(!complete && { range: { start: 0, end: limit - 1 } }),
    signal,
  });
  return { bytes: new Uint8Array(await new Response(body).arrayBuffer()), complete };
}

export async function fetchText(
  repository: string,
  ref: string,
  path: string,
  options: ReadOptions,
): Promise<ObjectText> {
  const { bytes, complete } = await fetchStart(repository, ref, path, options);
  return { text: new TextDecoder().decode(bytes), complete };
}
