import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { median, timed } from '../driver/api.ts';
import { runLoad, type NextRequest } from '../driver/http-load.ts';
import type { Report } from '../driver/report.ts';
import type { FloorStores } from '../floor-server.ts';

const program = join(import.meta.dirname, '..', 'floor-server.ts');
const warmUpSeconds = 2;
/** One client that works in between, as in the rows of single calls. */
const singleCalls = 15;
const pauseMs = 40;

/**
 * What bare processes with nothing but the storage reach on this machine in this very minute: no server that stores as
 * durably can do better with `node:http`.
 */
export async function measureFloors(
  report: Report,
  folder: string,
  load: { readonly seconds: number; readonly connections: number },
  stores?: FloorStores,
): Promise<void> {
  const file = join(folder, 'stores.json');
  mkdirSync(folder, { recursive: true });
  if (stores !== undefined) writeFileSync(file, JSON.stringify(stores));
  const child = spawn(process.execPath, [program, folder, ...(stores === undefined ? [] : [file])], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const port = await new Promise<string>((resolve, reject) => {
      child.stdout.once('data', (data: Buffer) => resolve(String(data).trim()));
      child.once('exit', () => reject(new Error('the bare server did not start')));
    });
    const endpoint = new URL(`http://127.0.0.1:${port}`);
    for (const [scenario, next] of Object.entries(floorRequests(endpoint.host))) {
      await runLoad({ ...load, endpoint, next, seconds: warmUpSeconds });
      const { perSecond, p50, p99, errors } = await runLoad({ ...load, endpoint, next });
      report.add({ scenario: `floor: ${scenario}`, value: perSecond, unit: '/s', p50, p99, errors });
    }
    const record = new URL('/stage/one', endpoint);
    const times: number[] = [];
    for (let index = 0; index < singleCalls; index += 1) {
      await delay(pauseMs);
      const call = (): Promise<Response> =>
        fetch(record, { method: 'PUT', body: '{"name":"x","source":"main"}' });
      const { milliseconds, result } = await timed(call);
      await result.text();
      times.push(milliseconds);
    }
    report.add({ scenario: 'floor: durable record, one client', value: median(times), unit: 'ms' });
  } finally {
    child.kill();
  }
}

function floorRequests(host: string): Record<string, NextRequest> {
  const get = (path: string): NextRequest => {
    const request = `GET ${path} HTTP/1.1\r\nhost: ${host}\r\n\r\n`;
    return () => request;
  };
  const put = (path: string, body: string): NextRequest => {
    const rest = ` HTTP/1.1\r\nhost: ${host}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    return (sequence) => `PUT ${path}/${Math.floor(Math.random() * 1e9)}.${sequence}${rest}`;
  };
  const entry = `{"physical_address":"local:///data/import/d0000/f0001","checksum":"0123456789abcdef0123456789abcdef","size_bytes":1234}`;
  return {
    'bare answer of a stat': get('/stat'),
    'and 4 KiB of a file': get('/get'),
    'body and durable record': put('/stage', entry),
    'body, synced file and durable record': put('/put', 'x'.repeat(4096)),
  };
}
