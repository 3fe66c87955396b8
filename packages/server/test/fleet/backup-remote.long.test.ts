import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  fetchPostgres,
  orSkipReason,
  runCommand,
  startPostgres,
  startVersitygw,
  svcBundle,
  tempDir,
  UnavailableError,
  waitUntil,
} from '@svc/testing';
import { expect, test } from 'vitest';
import { quickstartAuth, quickstartKey, runSvc, startSvc, type RunningSvc } from '../start-server.ts';
import { Fleet, settingsFor, setUpKeys } from './fleet.ts';
import { Workload } from './workload.ts';

const programs = await orSkipReason('pg_dump', async () => {
  const folder = await fetchPostgres();
  if (!existsSync(join(folder, 'pg_dump'))) throw new UnavailableError(`${folder} has no pg_dump`);
  return folder;
});

function svcctl(server: RunningSvc, ...args: string[]): Promise<string> {
  return runCommand(process.execPath, [join(svcBundle(), 'svcctl.js'), ...args], {
    env: {
      HOME: tempDir(),
      SVCCTL_SERVER_ENDPOINT_URL: server.url,
      SVCCTL_CREDENTIALS_ACCESS_KEY_ID: quickstartKey.accessKeyId,
      SVCCTL_CREDENTIALS_SECRET_ACCESS_KEY: quickstartKey.secretAccessKey,
    },
  });
}

/** What a server answers for each path; all of it must be read from its own object store. */
async function unreadable(server: RunningSvc, ref: string, paths: Iterable<string>): Promise<string[]> {
  const wrong: string[] = [];
  for (const path of paths) {
    const query = `/api/v1/repositories/fleet/refs/${ref}/objects?path=${encodeURIComponent(path)}`;
    const { status } = await server.request(query, { headers: { authorization: quickstartAuth } });
    if (status !== 200) wrong.push(`${path}: ${status}`);
  }
  return wrong;
}

test.runIf(programs !== undefined)(
  'first the database, then the bucket, while people work: the copy has all that was acknowledged before',
  async () => {
    const fleet = await Fleet.open(1);
    const work = new Workload(fleet.url);
    await work.begin(`s3://${fleet.bucket}/data`);
    await waitUntil(() => work.written.size > 100 && work.merged.size > 0 && work.committed.size > 1, {
      what: 'some work',
      timeoutMs: 60_000,
    });
    const before = { written: [...work.written], committed: [...work.committed] };
    const folder = tempDir();
    const dump = join(folder, 'svc.dump');
    const database = fleet.postgres.address['connectionString'] ?? '';
    await runCommand(join(programs ?? '', 'pg_dump'), ['--format=custom', `--file=${dump}`, database]);
    const copied = await startVersitygw();
    const [source, target] = [fleet.s3, copied].map(({ address }) =>
      join(address['folder'] ?? '', fleet.bucket),
    );
    await runCommand('cp', ['-a', source ?? '', target ?? '']);
    const [server] = fleet.servers;
    if (server === undefined) throw new Error('no server');
    const manifest = join(folder, 'manifest.json');
    await work.end();
    // Refs are commits: what is not committed is not part of them.
    const last = join(folder, 'last');
    writeFileSync(last, 'the last');
    await svcctl(server, 'fs', 'upload', 'svc://fleet/main/last', '--source', last);
    await svcctl(server, 'commit', 'svc://fleet/main', '-m', 'all');
    await svcctl(server, 'refs-dump', 'svc://fleet', '-o', manifest, '--poll-interval', '1s');

    // The copy of both stores.
    const restored = await startPostgres();
    const connection = restored.address['connectionString'] ?? '';
    await runCommand(join(programs ?? '', 'pg_restore'), [`--dbname=${connection}`, '--no-owner', dump]);
    const settings = settingsFor(restored, copied);
    const verified = await runSvc(['verify', '--objects'], settings);
    expect(verified.stdout).toBe('');
    expect(verified.code, verified.stderr).toBe(0);
    const copy = await startSvc([], settings);
    expect(await unreadable(copy, 'main', before.written)).toEqual([]);
    const log = await svcctl(copy, 'log', 'svc://fleet/main');
    expect(before.committed.filter((id) => !log.includes(id))).toEqual([]);
    await copy.stop();

    // The refs alone, on an installation that knows nothing; the bucket has all data by then.
    await runCommand('cp', ['-aT', source ?? '', target ?? '']);
    const home = tempDir();
    const fresh = {
      ...settings,
      SVC_DATABASE_TYPE: 'local',
      SVC_DATABASE_LOCAL_PATH: join(home, 'kv'),
    };
    expect((await runSvc(['setup', '--user-name', 'admin', ...setUpKeys], fresh, home)).code).toBe(0);
    const other = await startSvc([], fresh, home);
    await svcctl(other, 'repo', 'create-bare', 'svc://fleet', `s3://${fleet.bucket}/data`);
    await svcctl(other, 'refs-restore', 'svc://fleet', '--manifest', manifest, '--poll-interval', '1s');
    expect(await unreadable(other, 'main', [...before.written, 'last'])).toEqual([]);
    await other.stop();
    expect((await runSvc(['verify', '--objects'], fresh, home)).code).toBe(0);
    await fleet.close();
    await copied.dispose();
    await restored.dispose();
  },
);
