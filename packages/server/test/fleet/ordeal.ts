import { setTimeout as pause } from 'node:timers/promises';
import { waitUntil } from '@svc/testing';
import { expect } from 'vitest';
import { quickstartAuth } from '../start-server.ts';
import { connectionProcesses, databaseProcesses, signal } from './database-processes.ts';
import { Fleet } from './fleet.ts';
import { Workload } from './workload.ts';

/** What an outage lasts: longer than a load balancer needs to see it. */
const outageMs = 3000;
/** Longer than `auth.cache.ttl` with its jitter, as the fleet is configured. */
const revokedWithinMs = 4000;

type Trouble = (fleet: Fleet, work: Workload) => Promise<void>;

/** Waits until the fleet serves again: new writes are acknowledged. */
async function goesOn(work: Workload): Promise<void> {
  const before = work.written.size;
  await waitUntil(() => work.written.size > before + 20, { what: 'writes', timeoutMs: 60_000 });
}

export const troubles = {
  async killed(fleet, work) {
    const [server] = fleet.servers;
    if (server === undefined) return;
    await fleet.kill(server);
    await goesOn(work);
    await fleet.add();
  },
  async paused(fleet, work) {
    const server = fleet.servers.at(-1);
    if (server === undefined) return;
    const goOn = fleet.pause(server);
    await pause(outageMs);
    await goesOn(work);
    goOn();
  },
  /** One after the other gets another configuration; old and new serve together meanwhile. */
  async restarted(fleet, work) {
    const before = [...fleet.servers];
    for (const server of before) {
      await fleet.add({ SVC_SERVER_WORKERS: '2', SVC_LOGGING_LEVEL: 'WARN' });
      await fleet.stop(server);
      await goesOn(work);
    }
  },
  async databaseRestarted(fleet, work) {
    await fleet.postgres.stop();
    await pause(1000);
    await fleet.postgres.start();
    await goesOn(work);
  },
  /** As `pg_terminate_backend` does, and failovers do: some connections end every moment, in the middle of whatever. */
  async connectionsEnded(fleet, work) {
    const until = Date.now() + outageMs;
    while (Date.now() < until) {
      const pids = connectionProcesses(fleet.postgres).sort(() => Math.random() - 0.5);
      for (const pid of pids.slice(0, 2)) signal(pid, 'SIGTERM');
      await pause(50);
    }
    await goesOn(work);
  },
  /** When one process dies, the others may have written to memory that it left half changed: all begin anew. */
  async databaseCrashed(fleet, work) {
    const [victim] = connectionProcesses(fleet.postgres).sort(() => Math.random() - 0.5);
    if (victim !== undefined) signal(victim, 'SIGKILL');
    await goesOn(work);
  },
  async databaseStoodStill(fleet, work) {
    const pids = databaseProcesses(fleet.postgres);
    for (const pid of pids) signal(pid, 'SIGSTOP');
    await pause(outageMs);
    for (const pid of pids) signal(pid, 'SIGCONT');
    await goesOn(work);
  },
  async objectStoreRestarted(fleet, work) {
    await fleet.s3.stop();
    await pause(1000);
    await fleet.s3.start();
    await goesOn(work);
  },
  /** A key that one server deletes is dead on all of them soon. */
  async keyRevoked(fleet) {
    const [first] = fleet.servers;
    if (first === undefined) return;
    const api = async (base: string, method: string, path: string, authorization: string, body?: object) =>
      fetch(`${base}/api/v1${path}`, {
        method,
        headers: { authorization, 'content-type': 'application/json', connection: 'close' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    const id = `leaver-${Math.random().toString(36).slice(2)}`;
    await api(first.url, 'POST', '/auth/users', quickstartAuth, { id });
    const made = await api(first.url, 'POST', `/auth/users/${id}/credentials`, quickstartAuth);
    const pair = (await made.json()) as { access_key_id: string; secret_access_key: string };
    const basic = `Basic ${btoa(`${pair.access_key_id}:${pair.secret_access_key}`)}`;
    const statuses = (): Promise<number[]> =>
      Promise.all(fleet.servers.map(async ({ url }) => (await api(url, 'GET', '/user', basic)).status));
    expect(new Set(await statuses())).toEqual(new Set([200]));
    const path = `/auth/users/${id}/credentials/${pair.access_key_id}`;
    expect((await api(first.url, 'DELETE', path, quickstartAuth)).status).toBe(204);
    expect((await api(first.url, 'GET', '/user', basic)).status).toBe(401);
    await pause(revokedWithinMs);
    expect(new Set(await statuses())).toEqual(new Set([401]));
  },
} satisfies Record<string, Trouble>;

/**
 * Lets people work on a fleet while it gets into trouble, then asks every server for all that was promised. Many writers
 * share what goes to the database.
 */
export async function survive(
  size: number,
  ordeal: readonly (keyof typeof troubles)[],
  writers?: number,
): Promise<Workload> {
  const trouble: Trouble = async (fleet, work) => {
    for (const name of ordeal) await troubles[name](fleet, work);
  };
  return endure(await Fleet.open(size), trouble, writers);
}

/** Replaces every server by one of the older build, or of this one; both serve together meanwhile. */
async function replaceAll(fleet: Fleet, work: Workload, bundle: string | undefined): Promise<void> {
  for (const server of fleet.servers) {
    await fleet.add({}, bundle);
    await goesOn(work);
    await fleet.stop(server);
    await goesOn(work);
  }
}

/** Upgrades the servers of an older build one by one while people work, takes the upgrade back, and upgrades again. */
export async function upgrade(size: number, olderBundle: string): Promise<Workload> {
  return endure(await Fleet.open(size, olderBundle), async (fleet, work) => {
    for (const bundle of [undefined, olderBundle, undefined]) await replaceAll(fleet, work, bundle);
  });
}

async function endure(fleet: Fleet, trouble: Trouble, writers?: number): Promise<Workload> {
  const work = new Workload(fleet.url);
  try {
    await work.begin(`s3://${fleet.bucket}/data`, writers);
    await goesOn(work);
    await trouble(fleet, work);
    await waitUntil(() => work.merged.size > 0 && work.committed.size > 0, { what: 'a merge and a commit' });
    await work.end();
    expect(work.wrongs, fleet.loggedErrors()).toEqual([]);
    for (const { url } of fleet.servers) expect(await work.missing(url)).toEqual([]);
  } finally {
    await work.end();
    await fleet.close();
  }
  return work;
}
