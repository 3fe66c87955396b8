import { ApiError, type Calls } from '@svc/client';
import { expect, test } from 'vitest';
import { pinTime } from './pin-time.ts';

function clientThat(answer: () => Promise<{ commit_id: string }>): { client: Calls; asked: string[] } {
  const asked: string[] = [];
  const get = (_path: string, options: { params: { path: { ref: string } } }) => {
    asked.push(options.params.path.ref);
    return answer();
  };
  return { client: { get } as unknown as Calls, asked };
}

const uri = { repository: 'r', path: 'p/' };

test('a ref at a time becomes its commit once; other refs cost nothing', async () => {
  const { client, asked } = clientThat(() => Promise.resolve({ commit_id: 'c1' }));
  for (const ref of ['main@2h', 'main@{1}~2', 'v1.0@{yesterday}']) {
    expect(await pinTime(client, { ...uri, ref })).toEqual({ ...uri, ref: 'c1' });
  }
  expect(asked).toHaveLength(3);
  for (const ref of ['main', 'main@', 'main$', 'main~1', 'a'.repeat(64)]) {
    expect(await pinTime(client, { ...uri, ref })).toEqual({ ...uri, ref });
  }
  expect(asked).toHaveLength(3);
});

test('who may not read commits goes on without; other refusals are told', async () => {
  const refusing = (status: number) =>
    clientThat(() => Promise.reject(new ApiError(status, 'no', {}))).client;
  expect(await pinTime(refusing(401), { ...uri, ref: 'main@2h' })).toEqual({ ...uri, ref: 'main@2h' });
  await expect(pinTime(refusing(404), { ...uri, ref: 'main@2h' })).rejects.toThrow('no');
});
