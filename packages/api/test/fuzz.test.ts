import { Agent, request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkedClient, expectDocumented } from './checked-client.ts';
import { fuzzRequests } from './fuzz-requests.ts';
import type { FuzzRequest } from './fuzz-requests.ts';
import { memEngine } from './mem-engine.ts';
import { authorization, startApi } from './start-api.ts';
import type { RunningApi } from './start-api.ts';

const total = 10_000;
const parallel = 16;

let api: RunningApi;
const agent = new Agent({ keepAlive: true, maxSockets: parallel });

beforeAll(async () => {
  api = await startApi(memEngine);
});

afterAll(async () => {
  agent.destroy();
  await api.stop();
});

/** What the requests are about; some of it is deleted on the way. */
async function furnish(): Promise<void> {
  const ask = checkedClient(api.url);
  for (const name of ['fuzz-one', 'fuzz-two']) {
    await ask('POST', '/repositories?bare=false', { json: { name, storage_namespace: `mem://${name}` } });
    await ask('POST', `/repositories/${name}/branches/main/objects?path=a`, { body: 'content' });
    await ask('POST', `/repositories/${name}/branches/main/commits`, { json: { message: 'm' } });
    await ask('POST', `/repositories/${name}/branches`, { json: { name: 'dev', source: 'main' } });
    await ask('POST', `/repositories/${name}/tags`, { json: { id: 'v1', ref: 'main' } });
    await ask('POST', `/repositories/${name}/branches/dev/objects?path=dir%2Fb`, { body: 'b' });
  }
  await ask('POST', '/auth/users', { json: { id: 'bob' } });
  await ask('POST', '/auth/groups', { json: { id: 'team' } });
}

interface Outcome {
  readonly status: number;
  readonly contentType: string | null;
  readonly body: string;
}

function send(fuzzed: FuzzRequest): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const { port, pathname } = new URL(api.url);
    const call = request(
      {
        agent,
        host: '127.0.0.1',
        port,
        method: fuzzed.method,
        path: pathname + fuzzed.path,
        headers: {
          ...fuzzed.headers,
          authorization,
          ...(fuzzed.body !== undefined && { 'content-length': Buffer.byteLength(fuzzed.body) }),
        },
        timeout: 30_000,
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            contentType: response.headers['content-type'] ?? null,
            body: Buffer.concat(chunks).toString(),
          }),
        );
        response.on('error', reject);
      },
    );
    call.on('timeout', () => call.destroy(new Error('no answer for thirty seconds')));
    call.on('error', (error: NodeJS.ErrnoException) => {
      // A refused body ends the connection; the answer may be lost while we still write.
      if (error.code === 'EPIPE' || error.code === 'ECONNRESET') {
        resolve({ status: 0, contentType: null, body: '' });
      } else reject(error);
    });
    call.end(fuzzed.body);
  });
}

test(
  `${total} requests made from the document are answered as documented`,
  { timeout: 300_000 },
  async () => {
    const requests = fuzzRequests(Number(process.env['SVC_FUZZ_SEED'] ?? 20240229), total);
    const problems: string[] = [];
    const statuses = new Map<number, number>();
    let sent = 0;

    async function work(): Promise<void> {
      for (const fuzzed of requests) {
        if (sent++ % 1000 === 0) await furnish();
        const line = `${fuzzed.method} ${fuzzed.path} ${fuzzed.body?.slice(0, 300) ?? ''}`;
        try {
          const { status, contentType, body } = await send(fuzzed);
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          if (status >= 500 && status !== 501 && status !== 503) problems.push(`${status} ${body}: ${line}`);
          else if (
            status !== 0 &&
            body !== '{"message":"the path is not validly encoded"}' &&
            body !== '{"message":"invalid API endpoint"}'
          ) {
            expectDocumented(fuzzed.method, fuzzed.path, status, contentType, body);
          }
        } catch (error) {
          problems.push(`${(error as Error).message}: ${line}`);
        }
      }
    }

    await Promise.all(Array.from({ length: parallel }, work));
    expect(problems.slice(0, 20)).toEqual([]);
    expect(api.failures).toEqual([]);
    // The generator is worth its time only while many requests get through to their operation.
    const answered = [...statuses].filter(([status]) => status >= 200 && status < 300);
    expect(answered.reduce((sum, [, number]) => sum + number, 0)).toBeGreaterThan(total / 4);
  },
);
