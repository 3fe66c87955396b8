import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '../driver/connection.ts';
import { Latencies } from '../driver/latencies.ts';
import { randomKey } from '../scenarios/bench.ts';
import { row, tableHead, type World } from './world.ts';

const objects = 100_000;
const connections = 64;
const coldSeconds = 5;
const seconds = 16;
/** One start says little: whatever else runs in that second is in it. */
const starts = 9;

interface Window {
  readonly latencies: Latencies;
  errors: number;
  costUs: number;
}

/**
 * Stat from the first moment a server is healthy, or after a rest, second by second, and what each request cost it.
 */
export async function measureCold(world: World, restMs: number): Promise<void> {
  await world.stage('main', objects);
  await world.commit('main');
  await world.restart();
  // Reads the caches of the operating system and of compiled code, as the start before this one did.
  await delay(1000);
  await world.restart();
  await delay(restMs);
  const windows = await load(world, seconds);
  tableHead('stat after a start, 64 connections');
  for (const [index, window] of windows.entries()) {
    const isShown = index < coldSeconds || index === windows.length - 1;
    if (isShown) row(`second ${index + 1}, ${window.costUs.toFixed(0)} µs of processor time each`, window);
  }
  row(`the first ${coldSeconds} seconds`, together(windows.slice(0, coldSeconds)));
  const firsts: number[] = [];
  for (let n = 0; n < starts; n += 1) {
    await world.restart();
    await delay(restMs);
    const [first] = await load(world, 1);
    if (first === undefined) continue;
    row(`first second of another start (healthy after ${world.server.startMs.toFixed(0)} ms)`, first);
    firsts.push(first.latencies.percentile(0.99));
  }
  const sorted = firsts.toSorted((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  console.log(`\np99 of the first second, median of ${sorted.length} starts: ${median.toFixed(1)} ms`);
}

function together(windows: readonly Window[]): Pick<Window, 'latencies' | 'errors'> {
  const latencies = new Latencies();
  for (const window of windows) latencies.add(window.latencies);
  return { latencies, errors: windows.reduce((sum, { errors }) => sum + errors, 0) };
}

async function load(world: World, forSeconds: number): Promise<Window[]> {
  const { requests } = world;
  const { endpoint, memory } = world.server;
  const windows = Array.from({ length: forSeconds }, (): Window => ({
    latencies: new Latencies(),
    errors: 0,
    costUs: 0,
  }));
  const finished = Promise.withResolvers<void>();
  const started = performance.now();
  const endsAt = started + forSeconds * 1000;
  const send = (connection: Connection, now: number): void => {
    connection.sentAt = now;
    connection.send(requests.stat('main', randomKey({ objects })));
  };
  let open = connections;
  const answered = (connection: Connection, status: number): void => {
    const now = performance.now();
    // Counted where it began: who waits for long is a matter of the second in which it came.
    const window = windows[Math.floor((connection.sentAt - started) / 1000)];
    window?.latencies.record(now - connection.sentAt);
    if (window !== undefined && status >= 400) window.errors += 1;
    if (now < endsAt) send(connection, now);
    else {
      connection.close();
      open -= 1;
      if (open === 0) finished.resolve();
    }
  };
  for (let index = 0; index < connections; index += 1)
    // The first request of a connection waits for the connection as well.
    void Connection.open(endpoint, answered, finished.reject).then(
      (connection) => send(connection, started),
      finished.reject,
    );
  let before = memory.processorMs();
  for (const [index, window] of windows.entries()) {
    await delay(started + (index + 1) * 1000 - performance.now());
    const now = memory.processorMs();
    window.costUs = ((now - before) * 1000) / window.latencies.count;
    before = now;
  }
  await finished.promise;
  return windows;
}
