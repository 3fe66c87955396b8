import { connect } from 'node:net';
import { BlockError } from '@svc/block';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { composeGateway, type TestGateway } from './compose.ts';
import { createUser } from './create-user.ts';
import type { S3TestClient } from './s3-test-client.ts';

let gateway: TestGateway;
let stranger: S3TestClient;

beforeAll(async () => {
  gateway = await composeGateway();
  await gateway.createRepository('repo');
  stranger = (await createUser(gateway, 'stranger', [])).client;
});
afterAll(() => gateway.close());

/** Sends everything before it reads anything, as many clients do; answers what the server said, or the failure. */
function sendFirst(head: string, body: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: gateway.port, host: '127.0.0.1' });
    socket.pause();
    socket.on('error', reject);
    socket.write(head);
    socket.write(body, (error) => {
      if (error !== null && error !== undefined) return;
      let answer = '';
      socket.on('data', (piece: Buffer) => (answer += piece.toString('latin1')));
      socket.on('close', () => resolve(answer));
      socket.resume();
    });
  });
}

const put = (client: S3TestClient, headers: string): string =>
  `PUT ${client.presign('PUT', '/repo/main/x')} HTTP/1.1\r\nhost: 127.0.0.1:${gateway.port}\r\n${headers}\r\n\r\n`;
const large = Buffer.alloc(20 * 1024 * 1024);

describe('a refused upload', () => {
  it.each([
    ['of known length', `content-length: ${large.length}`],
    [
      'whose client asked to continue and did not wait',
      `content-length: ${large.length}\r\nexpect: 100-continue`,
    ],
  ])('%s ends with its answer, not with a reset', async (_kind, headers) => {
    const answer = await sendFirst(put(stranger, headers), large);
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
    expect(answer).toContain('<Code>AccessDenied</Code>');
    expect(answer).toMatch(/connection: close/i);
  });

  it.each([large.length, 900_000])(
    'of %i bytes that the store refuses ends with its answer, too',
    async (size) => {
      const working = gateway.block.put.bind(gateway.block);
      gateway.block.put = async (_pointer, body) => {
        // A store may let go of the body it refuses only after it has said so.
        if (!(body instanceof Uint8Array)) {
          body.stream.on('error', () => undefined);
          setImmediate(() => body.stream.destroy());
        }
        return Promise.reject(new BlockError('no_space', 'full'));
      };
      try {
        const headers = `content-length: ${size}\r\nconnection: close`;
        const answer = await sendFirst(put(gateway.client(), headers), large.subarray(0, size));
        expect(answer).toMatch(/^HTTP\/1\.1 503 /);
      } finally {
        gateway.block.put = working;
      }
    },
  );

  it('in chunks ends with its answer, too', async () => {
    const chunked = Buffer.concat([
      Buffer.from(`${large.length.toString(16)}\r\n`),
      large,
      Buffer.from('\r\n0\r\n\r\n'),
    ]);
    const answer = await sendFirst(put(stranger, 'transfer-encoding: chunked'), chunked);
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
  });

  it('that the client breaks off holds nothing', async () => {
    const finished = gateway.records.length;
    const socket = connect({ port: gateway.port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    socket.write(`${put(stranger, `content-length: ${large.length}`)}some of it`);
    await expect.poll(() => gateway.records.length).toBeGreaterThan(finished);
    const open = (): Promise<number> =>
      new Promise((resolve, reject) => {
        gateway.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
      });
    const before = await open();
    socket.destroy();
    await expect.poll(open).toBeLessThan(before);
  });
});
