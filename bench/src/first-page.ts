// How long a first visit to a folder takes in a browser on a slow line and a slow machine:
// node bench/src/first-page.ts [--megabits 10] [--latency 40] [--slowdown 4] [--runs 5]
// Starts the built server and Chromium. Prints the median of the times after which something was painted and the rows
// of the folder were there, the bytes that came, and the calls that were made.
import { chromiumPath, startSvcProcess } from '@svc/testing';
import { chromium } from 'playwright-core';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    megabits: { type: 'string', default: '10' },
    latency: { type: 'string', default: '40' },
    slowdown: { type: 'string', default: '4' },
    runs: { type: 'string', default: '5' },
  },
});

interface Visit {
  readonly paintedMs: number;
  readonly usableMs: number;
  readonly kilobytes: number;
  readonly calls: number;
}

const keys = {
  access_key_id: 'AKIAIOSFOLQUICKSTART',
  secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};
const bytesPerSecond = (Number(values.megabits) * 1_000_000) / 8;
const server = await startSvcProcess({ args: ['--quickstart'] });
const browser = await chromium.launch({
  executablePath: await chromiumPath(),
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'],
});

async function visit(): Promise<Visit> {
  const context = await browser.newContext({ baseURL: server.url });
  await context.request.post('/api/v1/auth/login', { data: keys });
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send('Network.enable');
  await devtools.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: Number(values.latency),
    downloadThroughput: bytesPerSecond,
    uploadThroughput: bytesPerSecond,
  });
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: Number(values.slowdown) });
  let bytes = 0;
  devtools.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  let calls = 0;
  page.on('request', (request) => {
    if (request.url().includes('/api/')) calls++;
  });
  const started = performance.now();
  await page.goto('/repositories/quickstart/objects?path=data%2F', { waitUntil: 'commit' });
  await page.getByRole('link', { name: 'stations.csv' }).waitFor();
  const usableMs = performance.now() - started;
  await page.waitForLoadState('networkidle');
  const paintedMs = await page.evaluate(
    () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
  );
  await context.close();
  return { paintedMs, usableMs, kilobytes: bytes / 1024, calls };
}

try {
  const context = await browser.newContext({ baseURL: server.url });
  await context.request.post('/api/v1/auth/login', { data: keys });
  await context.request.post('/api/v1/repositories', {
    data: { name: 'quickstart', storage_namespace: 'local://quickstart', sample_data: true },
    headers: { 'X-Lakefs-Client': 'bench' },
  });
  await context.close();
  const visits: Visit[] = [];
  for (let run = 0; run < Number(values.runs); run++) visits.push(await visit());
  const median = (of: (visit: Visit) => number): number =>
    visits.map(of).toSorted((a, b) => a - b)[Math.floor(visits.length / 2)] ?? Number.NaN;
  console.log(
    JSON.stringify({
      paintedMs: Math.round(median((one) => one.paintedMs)),
      usableMs: Math.round(median((one) => one.usableMs)),
      kilobytes: Math.round(median((one) => one.kilobytes)),
      calls: median((one) => one.calls),
    }),
  );
} finally {
  await browser.close();
  await server.stop();
}
