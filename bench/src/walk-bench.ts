// Lists a bucket as an import does, one call after the other and several parts at once, where every answer takes a while:
//   node bench/src/walk-bench.ts [folders] [objects in each] [milliseconds]
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openBlockStore } from '@svc/block';
import { startVersitygw } from '@svc/testing';

const [folders = 50, objects = 1000, delayMs = 100] = process.argv.slice(2).map(Number);
const store = await startVersitygw();
const { endpoint = '', folder = '', accessKeyId = '', secretAccessKey = '' } = store.address;
for (let each = 0; each < folders; each += 1) {
  const path = join(folder, 'bucket', `d${String(each).padStart(4, '0')}`);
  mkdirSync(path, { recursive: true });
  for (let object = 0; object < objects; object += 1) {
    writeFileSync(join(path, `f${String(object).padStart(6, '0')}`), 'x');
  }
}

let calls = 0;
const far = createServer((message, response) => {
  calls += 1;
  setTimeout(() => {
    const { method, url, headers } = message;
    request(`${endpoint}${url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    }).end();
  }, delayMs);
});
await new Promise<void>((resolve) => far.listen(0, '127.0.0.1', resolve));
const { host } = new URL(endpoint);
const { port } = far.address() as AddressInfo;
console.log(`${folders} folders of ${objects} objects in ${host}, ${delayMs} ms before each answer`);
const adapter = await openBlockStore({
  type: 's3',
  endpoint: `http://127.0.0.1:${port}`,
  region: 'us-east-1',
  discoverBucketRegion: false,
  forcePathStyle: true,
  credentials: { accessKeyId, secretAccessKey },
});
for (let round = 0; round < 3; round += 1) {
  for (const parallel of [false, true]) {
    calls = 0;
    let found = 0;
    const begun = performance.now();
    for await (const page of adapter.walk('s3://bucket/', { parallel })) found += page.length;
    const seconds = ((performance.now() - begun) / 1000).toFixed(2);
    console.log(
      `${parallel ? 'parts at once' : 'one by one'}: ${found} objects, ${calls} calls, ${seconds} s`,
    );
  }
}
await adapter.close();
far.close();
await store.dispose();
