import type { components } from '@svc/client';

export type SvcEvent = components['schemas']['Event'];

/** How long to wait before a stream that was cut off is opened again. */
const reconnectMs = 2000;

export interface FollowOptions {
  /** Such as `/api/v1/events`. */
  readonly path: string;
  readonly types: readonly string[];
  readonly signal: AbortSignal;
  /** Told the number after which the stream begins, once. */
  readonly onStart: (position: number) => void;
  readonly onEvent: (event: SvcEvent) => void;
  readonly onState: (state: 'live' | 'waiting') => void;
}

/** Follows what happens and comes back where it was whenever the connection ends. */
export async function followEvents(options: FollowOptions): Promise<void> {
  const { path, types, signal } = options;
  const query = types.map((type) => `types=${encodeURIComponent(type)}`).join('&');
  let cursor: string | undefined;
  while (!signal.aborted) {
    try {
      const response = await fetch(query === '' ? path : `${path}?${query}`, {
        headers: { accept: 'text/event-stream', ...(cursor !== undefined && { 'last-event-id': cursor }) },
        signal,
      });
      // What is no longer kept is not shown: the stream begins anew.
      if (response.status === 410) cursor = undefined;
      else if (response.ok && response.body !== null) {
        options.onState('live');
        for await (const line of linesOf(response.body)) {
          if (line.startsWith('id: ')) {
            if (cursor === undefined) options.onStart(Number(line.slice(4)));
            cursor = line.slice(4);
          } else if (line.startsWith('data: ')) options.onEvent(JSON.parse(line.slice(6)) as SvcEvent);
        }
      }
    } catch {
      // Cut off, or the server is away.
    }
    if (signal.aborted) return;
    options.onState('waiting');
    await new Promise((resolve) => setTimeout(resolve, reconnectMs));
  }
}

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (text + value).split('\n');
    text = lines.pop() ?? '';
    yield* lines;
  }
}
