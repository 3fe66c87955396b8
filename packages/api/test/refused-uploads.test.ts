import { BlockError, BlockStores } from '@svc/block';
import { createTestAdapter } from '@svc/block/named-store';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { engineOver } from './mem-engine.ts';
import { authorization, startApi, type RunningApi } from './start-api.ts';

let api: RunningApi;
let full = false;

beforeAll(async () => {
  const adapter = createTestAdapter();
  const put = adapter.put.bind(adapter);
  adapter.put = (pointer, body, options) => {
    if (!full) return put(pointer, body, options);
    // As every store does with the body of a write that it refuses.
    if (!(body instanceof Uint8Array)) body.stream.on('error', () => undefined).destroy();
    return Promise.reject(new BlockError('no_space', 'full'));
  };
  api = await startApi((kv, bus) => engineOver(new BlockStores([adapter]), kv, bus));
  const created = await fetch(`${api.url}/repositories`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'refusing', storage_namespace: 'mem://bucket/refusing' }),
  });
  expect(created.status).toBe(201);
});
afterAll(() => api.stop());

const size = 20 * 1024 * 1024;

/** Sends everything before it reads anything, as many clients do. */
function upload(repository: string, headers: readonly string[], body = Buffer.alloc(size)): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(api.port, '127.0.0.1');
    socket.pause();
    socket.on('error', reject);
    socket.write(
      [
        `POST /api/v1/repositories/${repository}/branches/main/objects?path=x HTTP/1.1`,
        'host: x',
        `authorization: ${authorization}`,
        ...headers,
        '',
        '',
      ].join('\r\n'),
    );
    socket.write(body, (error) => {
      if (error !== null && error !== undefined) return;
      let answer = '';
      socket.on('data', (piece: Buffer) => (answer += piece.toString('latin1')));
      socket.on('close', () => resolve(answer));
      socket.resume();
    });
  });
}

const form = Buffer.concat([
  Buffer.from('--b\r\ncontent-disposition: form-data; name="content"\r\n\r\n'),
  Buffer.alloc(size),
  Buffer.from('\r\n--b--\r\n'),
]);
const formHeaders = [`content-length: ${form.length}`, 'content-type: multipart/form-data; boundary=b'];

test.each([
  ['raw', [`content-length: ${size}`], undefined],
  ['as a form', formHeaders, form],
])(
  'an upload refused before it is read (%s) ends with its answer, not with a reset',
  async (_kind, headers, body) => {
    const answer = await upload('missing', headers, body);
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    expect(answer).toContain('repository not found');
    expect(api.finished.at(-1)?.status).toBe(404);
  },
);

test.each([
  ['raw', [`content-length: ${size}`], undefined],
  ['as a form', formHeaders, form],
])('an upload that the store refuses half-way (%s) ends with its answer', async (_kind, headers, body) => {
  full = true;
  try {
    const answer = await upload('refusing', headers, body);
    expect(answer).toMatch(/^HTTP\/1\.1 503 /);
    expect(answer).toContain('disk of the server is full');
  } finally {
    full = false;
  }
});
