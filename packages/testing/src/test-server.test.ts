import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { testServerOrSkip } from './test-server.ts';

const postgres = await testServerOrSkip('postgres');
const versitygw = await testServerOrSkip('versitygw');

describe('test servers', () => {
  it.skipIf(postgres === undefined)('PostgreSQL accepts connections', async () => {
    const port = Number(new URL(postgres!.connectionString).port);
    await new Promise<void>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.end();
        resolve();
      });
      socket.once('error', reject);
    });
  });

  it.skipIf(versitygw === undefined)('versitygw refuses unsigned requests as S3 does', async () => {
    const response = await fetch(versitygw!.endpoint);
    expect(response.status).toBe(403);
    expect(await response.text()).toContain('<Error>');
  });
});
