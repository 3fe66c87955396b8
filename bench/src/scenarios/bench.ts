import type { Api, Credentials } from '../driver/api.ts';
import type { BareServer } from '../driver/bare-server.ts';
import { runLoad, runMix, type LoadResult, type NextRequest } from '../driver/http-load.ts';
import type { ServerMemory } from '../driver/memory.ts';
import type { RemoteStores } from '../driver/remote-stores.ts';
import type { Report } from '../driver/report.ts';
import type { Requests } from './requests.ts';

/** What every scenario works with. */
export interface Bench {
  readonly api: Api;
  readonly credentials: Credentials;
  readonly requests: Requests;
  readonly report: Report;
  /** Measured beside each scenario, where ratios to it are wanted. */
  readonly bare?: BareServer | undefined;
  readonly objects: number;
  readonly seconds: number;
  readonly connections: number;
  /** Where the import finds the objects: a URI that ends with a slash. */
  readonly importSource: string;
  readonly repository: string;
  /** Ends the names of branches, so that scenarios can be measured again in the same repository. */
  readonly pass: string;
  /** Of a server we started ourselves. */
  readonly memory: ServerMemory | undefined;
  /** Of a server on an S3 server: that one, for loads without svc. */
  readonly objectStore: RemoteStores['objectStore'] | undefined;
  /** Goals are set for a million objects; smaller runs are not held to those that depend on the size. */
  readonly fullSize: boolean;
}

export const filesPerFolder = 1000;

/** The name of the folder of the n-th object. */
export function folderOf(index: number): string {
  return `d${String(Math.floor(index / filesPerFolder)).padStart(4, '0')}`;
}

/** The key of the n-th object. */
export function keyOf(index: number): string {
  return `${folderOf(index)}/f${String(index % filesPerFolder).padStart(4, '0')}`;
}

export function randomIndex(bench: { readonly objects: number }): number {
  return Math.floor(Math.random() * bench.objects);
}

export function randomKey(bench: { readonly objects: number }): string {
  return keyOf(randomIndex(bench));
}

export function createBranch(bench: Bench, name: string): Promise<unknown> {
  return bench.api.call('POST', `/repositories/${bench.repository}/branches`, { name, source: 'main' });
}

export function commit(bench: Bench, branch: string): Promise<unknown> {
  const target = `/repositories/${bench.repository}/branches/${branch}/commits`;
  return bench.api.call('POST', target, { message: 'change' });
}

/** Stages `count` entries through the API as quickly as many connections can. */
export async function stageMany(bench: Bench, count: number, next: NextRequest): Promise<LoadResult> {
  const { api, connections } = bench;
  const result = await runLoad({
    endpoint: api.endpoint,
    connections: Math.min(connections, count),
    seconds: 3600,
    requests: count,
    next,
  });
  if (result.errors > 0) throw new Error(`${result.errors} of ${count} entries were not staged`);
  return result;
}

/** Lets the server compile what it runs, as it will have after its first seconds in use. */
export async function warmUp(bench: Bench): Promise<void> {
  const { api, requests, connections, seconds } = bench;
  console.log(`warm-up: ${seconds} s of stat and list, not counted`);
  await runMix({ endpoint: api.endpoint, connections, seconds }, [
    { share: 80, next: () => requests.stat('main', randomKey(bench)) },
    { share: 20, next: () => requests.list('main', randomKey(bench), 100) },
  ]);
}

interface LoadScenario {
  readonly scenario: string;
  readonly goal?: number;
  readonly p99Goal?: number;
  readonly next: NextRequest;
}

/** Measures the bare server between two scenarios. */
export async function calibrateNow({ bare, report }: Bench): Promise<void> {
  if (bare !== undefined) report.addCalibration(await bare.rate());
}

/** Runs a load by many clients and reports its rate. */
export async function load(bench: Bench, scenario: LoadScenario): Promise<LoadResult> {
  const { api, connections, seconds, report } = bench;
  const result = await runLoad({ endpoint: api.endpoint, connections, seconds, next: scenario.next });
  report.add({
    scenario: scenario.scenario,
    value: result.perSecond,
    unit: '/s',
    p50: result.p50,
    p99: result.p99,
    errors: result.errors,
    ...(scenario.goal !== undefined && { goal: scenario.goal }),
  });
  if (scenario.p99Goal !== undefined) {
    report.add({
      scenario: `${scenario.scenario}: p99`,
      value: result.p99,
      unit: 'ms',
      goal: scenario.p99Goal,
    });
  }
  await calibrateNow(bench);
  return result;
}

/** Runs the same by one client and reports how long it waits. */
export async function loadAlone(
  bench: Bench,
  { scenario, goal, next }: { scenario: string; goal: number; next: NextRequest },
): Promise<void> {
  const { p50, p99, errors } = await runLoad({
    endpoint: bench.api.endpoint,
    connections: 1,
    seconds: bench.seconds,
    next,
  });
  bench.report.add({ scenario: `${scenario}, one client`, value: p50, unit: 'ms', p99, errors, goal });
  await calibrateNow(bench);
}

/** Runs some work and reports the most memory the server held meanwhile, where we can see it. */
export async function withPeakMemory<T>(bench: Bench, during: string, work: () => Promise<T>): Promise<T> {
  if (bench.memory === undefined) return work();
  const { peak, result } = await bench.memory.peakDuring(work);
  bench.report.add({
    scenario: `peak memory during ${during}`,
    value: peak,
    unit: 'MB',
    ...(bench.fullSize && { goal: 800 }),
  });
  return result;
}
