import { once } from 'node:events';
import { statSync, truncateSync } from 'node:fs';
import { connect } from 'node:net';
import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import { composeGateway } from './compose.ts';
import { framingSuite } from './framing-suite.ts';

framingSuite('local', () => Promise.resolve({ type: 'local', path: tempDir('svc-framing'), sync: false }));
framingSuite('mem', () => Promise.resolve({ type: 'mem' }));

test('data that vanishes while it is sent breaks the connection instead of filling it with the next answer', async () => {
  const block = { type: 'local', path: tempDir('svc-framing'), sync: false } as const;
  const gateway = await composeGateway({ block });
  await gateway.createRepository('repo');
  const s3 = gateway.client();
  const size = 64 * 1024 * 1024;
  await s3.put('/repo/main/large', Buffer.alloc(size, 'x'));
  const file = gateway.storedFiles().find((path) => statSync(path).size === size) ?? '';
  const request = `GET ${s3.presign('GET', '/repo/main/large')} HTTP/1.1\r\nhost: 127.0.0.1:${gateway.port}\r\n\r\n`;
  const socket = connect(gateway.port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(request + request);
  let received = '';
  let length = 0;
  socket.on('data', (piece: Buffer) => {
    if (length === 0) {
      received = piece.toString('latin1');
      // Far less than the object fits into the buffers of a connection, so the rest is not read yet.
      truncateSync(file, 1024);
    }
    length += piece.length;
  });
  await once(socket, 'close');
  expect(received).toMatch(/^HTTP\/1\.1 200 [^]*content-length: 67108864/i);
  expect(length).toBeLessThan(size);
  await gateway.close();
});
