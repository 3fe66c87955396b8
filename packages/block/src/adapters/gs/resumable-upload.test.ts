import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ObjectPointer } from '../../adapter.ts';
import { GsAdapter } from './gs-adapter.ts';

const unit = 256 * 1024;
const pointer: ObjectPointer = { storageNamespace: 'gs://b', identifier: 'x', identifierType: 'relative' };

type Fault = 'drop' | 'half' | 'lose-answer' | 'busy';

/** A session as the service documents it: it keeps whole units, and tells how many bytes it has. */
class Session {
  kept = Buffer.alloc(0);
  isDone = false;
  isCancelled = false;
  readonly ranges: string[] = [];
  readonly faults: (Fault | undefined)[];

  constructor(faults: readonly (Fault | undefined)[]) {
    this.faults = [...faults];
  }

  handle(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
    if (request.method === 'POST')
      return void response.writeHead(200, { location: this.#location(request) }).end();
    if (request.method === 'DELETE') {
      this.isCancelled = true;
      return void response.writeHead(499).end();
    }
    const range = request.headers['content-range'] ?? '';
    this.ranges.push(range);
    if (range === 'bytes */*') return this.#tell(response);
    const fault = this.faults.shift();
    if (fault === 'busy') return void response.writeHead(503).end();
    if (fault === 'drop') return void request.socket.destroy();
    this.#keep(range, fault === 'half' ? body.subarray(0, body.length / 2 + 1000) : body, fault === 'half');
    if (fault === undefined) return this.#tell(response);
    request.socket.destroy();
  }

  #keep(range: string, body: Buffer, isCut: boolean): void {
    const [, start, total] = /^bytes (\*|\d+)(?:-\d+)?\/(\*|\d+)$/.exec(range) ?? [];
    if (start !== '*' && Number(start) !== this.kept.length)
      throw new Error(`bytes from ${start} were not wanted`);
    const isLast = !isCut && total !== '*';
    const whole = isLast ? body : body.subarray(0, Math.floor(body.length / unit) * unit);
    this.kept = Buffer.concat([this.kept, whole]);
    if (isLast && this.kept.length === Number(total)) this.isDone = true;
  }

  #tell(response: ServerResponse): void {
    if (this.isDone) {
      const object = {
        name: 'x',
        size: String(this.kept.length),
        etag: 'tag',
        updated: '2026-01-01T00:00:00Z',
      };
      return void response.end(JSON.stringify(object));
    }
    const headers = this.kept.length === 0 ? {} : { range: `bytes=0-${this.kept.length - 1}` };
    response.writeHead(308, headers).end();
  }

  #location(request: IncomingMessage): string {
    return `http://${request.headers.host}/upload/session?upload_id=1`;
  }
}

async function withSession(
  faults: readonly (Fault | undefined)[],
  use: (adapter: GsAdapter, session: Session) => Promise<void>,
): Promise<void> {
  const session = new Session(faults);
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => session.handle(request, Buffer.concat(chunks), response));
  });
  await withAdapter(server, (adapter) => use(adapter, session));
}

/** An adapter whose service is this server. */
async function withAdapter(server: Server, use: (adapter: GsAdapter) => Promise<void>): Promise<void> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const adapter = new GsAdapter(
    { type: 'gs', endpoint: `http://127.0.0.1:${port}` },
    { token: undefined, signer: undefined },
  );
  try {
    await use(adapter);
  } finally {
    await adapter.close();
    server.closeAllConnections();
    server.close();
  }
}

describe('a resumable upload', () => {
  afterEach(() => vi.restoreAllMocks());

  it.each<{ name: string; faults: (Fault | undefined)[]; size: number }>([
    { name: 'without faults', faults: [], size: 17 * 1024 * 1024 + 5 },
    { name: 'of whole chunks', faults: [], size: 16 * 1024 * 1024 },
    { name: 'whose connection is cut', faults: [undefined, 'drop', 'half'], size: 20 * 1024 * 1024 + 1 },
    { name: 'whose service is busy', faults: ['busy', 'busy'], size: 9 * 1024 * 1024 },
    { name: 'whose last answer is lost', faults: [undefined, 'lose-answer'], size: 9 * 1024 * 1024 + 3 },
    {
      name: 'of whole chunks, whose last answer is lost',
      faults: [undefined, undefined, 'lose-answer'],
      size: 16 * 1024 * 1024,
    },
  ])('$name arrives as it was sent', async ({ faults, size }) => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    await withSession(faults, async (adapter, session) => {
      const body = randomBytes(size);
      await adapter.put(pointer, { stream: Readable.from([body]), size: -1 });
      expect(session.kept.equals(body)).toBe(true);
      expect(session.faults).toEqual([]);
    });
  });

  it('gives up when the service stays away, and ends when its body fails', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const busy = Array.from({ length: 20 }, () => 'busy' as const);
    await withSession(busy, async (adapter, session) => {
      const stream = Readable.from([randomBytes(9_000_000)]);
      await expect(adapter.put(pointer, { stream, size: -1 })).rejects.toMatchObject({ kind: 'unavailable' });
      expect([session.isDone, session.isCancelled]).toEqual([false, true]);
    });
    await withSession([], async (adapter, session) => {
      async function* failing(): AsyncGenerator<Buffer> {
        yield randomBytes(9_000_000);
        throw new Error('client went away');
      }
      const put = adapter.put(pointer, { stream: Readable.from(failing()), size: -1 });
      await expect(put).rejects.toThrow('client went away');
      expect([session.isDone, session.isCancelled]).toEqual([false, true]);
    });
  });
});

describe('a large body of known length', () => {
  afterEach(() => vi.restoreAllMocks());

  const mebibyte = 1024 * 1024;

  /** Takes bytes as they come and breaks off where it is told; `forgets` of them are lost then. */
  async function withStreamingSession(
    options: { readonly cuts: readonly number[]; readonly forgets?: number },
    use: (
      adapter: GsAdapter,
      seen: { ranges: string[]; kept: () => Buffer; isCancelled: boolean },
    ) => Promise<void>,
  ): Promise<void> {
    const cuts = [...options.cuts];
    let kept: Buffer = Buffer.alloc(0);
    const seen = { ranges: [] as string[], kept: () => kept, isCancelled: false };
    const server = createServer((request, response) => {
      request.on('error', () => undefined);
      if (request.method === 'POST') {
        response.writeHead(200, { location: `http://${request.headers.host}/upload/session` }).end();
        return;
      }
      if (request.method === 'DELETE') {
        seen.isCancelled = true;
        response.writeHead(499).end();
        return;
      }
      const range = request.headers['content-range'] ?? '';
      seen.ranges.push(range);
      const [, start, total] = /^bytes (\*|\d+)(?:-\d+)?\/(\*|\d+)$/.exec(range) ?? [];
      if (start !== '*') expect(Number(start)).toBe(kept.length);
      const arrived = [kept];
      let bytes = kept.length;
      const cut = start === '*' ? undefined : cuts.shift();
      request.on('data', (chunk: Buffer) => {
        arrived.push(chunk);
        bytes += chunk.length;
        if (cut === undefined || bytes < cut || request.socket.destroyed) return;
        const all = Buffer.concat(arrived).subarray(0, cut - (options.forgets ?? 0));
        kept = all.subarray(0, Math.floor(all.length / unit) * unit);
        request.socket.destroy();
      });
      request.on('end', () => {
        kept = Buffer.concat(arrived);
        if (String(kept.length) === total) {
          const object = { name: 'x', size: total, etag: 'tag', updated: '2026-01-01T00:00:00Z' };
          response.end(JSON.stringify(object));
        } else
          response.writeHead(308, kept.length === 0 ? {} : { range: `bytes=0-${kept.length - 1}` }).end();
      });
    });
    await withAdapter(server, (adapter) => use(adapter, seen));
  }

  function inPieces(body: Buffer): Readable {
    const count = Math.ceil(body.length / 65_536);
    return Readable.from(
      Array.from({ length: count }, (_, index) => body.subarray(index * 65_536, (index + 1) * 65_536)),
    );
  }

  it('goes in one request', async () => {
    await withStreamingSession({ cuts: [] }, async (adapter, seen) => {
      const body = randomBytes(9 * mebibyte + 1);
      await adapter.put(pointer, { stream: inPieces(body), size: body.length });
      expect(seen.kept().equals(body)).toBe(true);
      expect(seen.ranges).toEqual([`bytes 0-${body.length - 1}/${body.length}`]);
    });
  });

  it('goes on where the store stopped, however often', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const cuts = Array.from({ length: 8 }, (_, index) => (3 + index * 5) * mebibyte);
    await withStreamingSession({ cuts }, async (adapter, seen) => {
      const body = randomBytes(45 * mebibyte + 17);
      await adapter.put(pointer, { stream: inPieces(body), size: body.length });
      expect(seen.kept().equals(body)).toBe(true);
      expect(seen.ranges.filter((range) => range !== 'bytes */*')).toHaveLength(9);
    });
  });

  it('fails when the store has lost more than can be sent again, and leaves no upload', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    await withStreamingSession({ cuts: [40 * mebibyte], forgets: 30 * mebibyte }, async (adapter, seen) => {
      const stream = inPieces(randomBytes(50 * mebibyte));
      const put = adapter.put(pointer, { stream, size: 50 * mebibyte });
      await expect(put).rejects.toMatchObject({ kind: 'unavailable' });
      expect(seen.isCancelled).toBe(true);
      expect(stream.destroyed).toBe(true);
    });
  });

  it.each([-1, 1])('of another length than announced (%i) is refused and leaves no upload', async (wrong) => {
    await withStreamingSession({ cuts: [] }, async (adapter, seen) => {
      const body = randomBytes(10 * mebibyte);
      const put = adapter.put(pointer, { stream: inPieces(body), size: body.length + wrong });
      await expect(put).rejects.toMatchObject({ kind: 'write_failed' });
      expect(seen.isCancelled).toBe(true);
    });
  });

  it('whose sender goes away leaves no upload', async () => {
    await withStreamingSession({ cuts: [] }, async (adapter, seen) => {
      async function* failing(): AsyncGenerator<Buffer> {
        yield randomBytes(9_000_000);
        throw new Error('client went away');
      }
      const put = adapter.put(pointer, { stream: Readable.from(failing()), size: 10_000_000 });
      await expect(put).rejects.toThrow('client went away');
      expect(seen.isCancelled).toBe(true);
    });
  });
});
