import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { at, withStub } from '../../../test/s3-stub.ts';

it('sees how fast a connection gives what is waited for', async () => {
  let pauseMs = 4;
  const content = Buffer.alloc(6 * 1024 * 1024, 'x');
  await withStub(
    ({ headers }, response) => {
      const [, from, to] = /bytes=(\d+)-(\d+)/.exec(String(headers.range)) ?? [];
      const body = content.subarray(Number(from), Math.min(Number(to) + 1, content.length));
      const total = `bytes ${from}-${Number(from) + body.length - 1}/${content.length}`;
      response.writeHead(206, { 'content-range': total, 'content-length': body.length, etag: '"e"' });
      const send = (at: number): void => {
        if (at >= body.length) response.end();
        else {
          response.write(body.subarray(at, at + 128 * 1024));
          setTimeout(() => send(at + 128 * 1024), pauseMs);
        }
      };
      if (pauseMs === 0) response.end(body);
      else send(0);
    },
    {},
    async (adapter) => {
      const read = async (): Promise<void> => {
        const body = await adapter.getRange(at('x'), 0, content.length - 1);
        await new Promise<void>((resolve, reject) => {
          const sink = new PassThrough();
          sink.resume();
          body.sendTo(sink).then(resolve, reject);
        });
      };
      expect(adapter.prefersRanges?.()).toBe(false);
      await read();
      expect(adapter.prefersRanges?.()).toBe(true);
      pauseMs = 0;
      for (let reads = 0; reads < 40; reads += 1) await read();
      expect(adapter.prefersRanges?.()).toBe(false);
    },
  );
});
