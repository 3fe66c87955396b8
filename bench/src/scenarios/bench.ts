import type { Api, Credentials } from '../driver/api.ts';
import { runLoad, type LoadRequest, type LoadResult } from '../driver/http-load.ts';
import type { Report } from '../driver/report.ts';

/** What every scenario works with. */
export interface Bench {
  readonly api: Api;
  readonly credentials: Credentials;
  readonly report: Report;
  readonly objects: number;
  readonly seconds: number;
  readonly connections: number;
  readonly importFolder: string;
  readonly repository: string;
  /** Goals are set for a million objects; smaller runs are not held to those that depend on the size. */
  readonly fullSize: boolean;
}

export const filesPerFolder = 1000;

/** The key of the n-th imported object. */
export function keyOf(index: number): string {
  const folder = String(Math.floor(index / filesPerFolder)).padStart(4, '0');
  return `d${folder}/f${String(index % filesPerFolder).padStart(4, '0')}`;
}

export function randomKey(bench: Bench): string {
  return keyOf(Math.floor(Math.random() * bench.objects));
}

interface LoadScenario {
  readonly scenario: string;
  readonly goal?: number;
  readonly connections?: number;
  readonly next: (sequence: number) => LoadRequest;
}

/** Runs a load and reports its rate. */
export async function load(bench: Bench, scenario: LoadScenario): Promise<LoadResult> {
  const result = await runLoad({
    endpoint: bench.api.endpoint,
    connections: scenario.connections ?? bench.connections,
    seconds: bench.seconds,
    next: scenario.next,
  });
  bench.report.add({
    scenario: scenario.scenario,
    value: result.perSecond,
    unit: '/s',
    p99: result.p99,
    errors: result.errors,
    ...(scenario.goal !== undefined && { goal: scenario.goal }),
  });
  return result;
}
