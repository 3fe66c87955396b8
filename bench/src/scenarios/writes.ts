import { timed } from '../driver/api.ts';
import { load, randomKey, type Bench } from './bench.ts';

/** Branch creation and staged writes, by many clients and by one, and what they leave for a commit. */
export async function measureWrites(bench: Bench): Promise<void> {
  const { api, repository } = bench;
  const base = `/api/v1/repositories/${repository}`;
  const headers = { authorization: api.authorization, 'content-type': 'application/json' };
  const run = Date.now().toString(36);
  const branch = (kind: string) => (sequence: number) => ({
    method: 'POST',
    target: `${base}/branches`,
    headers,
    body: `{"name":"${kind}-${run}-${sequence}","source":"main"}`,
  });
  await load(bench, { scenario: 'create branch', goal: 12_000, next: branch('b') });
  await load(bench, { scenario: 'create branch, one client', connections: 1, goal: 1000, next: branch('o') });

  await api.call('POST', `/repositories/${repository}/branches`, { name: 'stage', source: 'main' });
  const entry = JSON.stringify({
    physical_address: `local://${bench.importFolder}/d0000/f0001`,
    checksum: '0123456789abcdef0123456789abcdef',
    size_bytes: 1234,
  });
  const stage = (prefix: string) => (sequence: number) => ({
    method: 'PUT',
    target: `${base}/branches/stage/objects?path=${prefix}%2F${Math.floor(Math.random() * 1e9)}.${sequence}`,
    headers,
    body: entry,
  });
  const staged = await load(bench, { scenario: 'stage write', goal: 15_000, next: stage('s') });
  await load(bench, { scenario: 'stage write, one client', connections: 1, goal: 1250, next: stage('t') });
  await load(bench, {
    scenario: 'stat on a branch with staged writes',
    goal: 13_000,
    next: () => ({
      method: 'GET',
      target: `${base}/refs/stage/objects/stat?path=${encodeURIComponent(randomKey(bench))}`,
      headers: { authorization: api.authorization },
    }),
  });
  const { milliseconds } = await timed(() =>
    api.call('POST', `/repositories/${repository}/branches/stage/commits`, { message: 'staged writes' }),
  );
  bench.report.add({
    scenario: `commit ${staged.requests} staged new keys`,
    value: milliseconds,
    unit: 'ms',
    goal: 250,
  });
}
