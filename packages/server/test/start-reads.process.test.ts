import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { svcBundle, tempDir } from '@svc/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { startSvc } from './start-server.ts';

const folder = svcBundle();
const log = join(tempDir(), 'read');
const noteReads = `
  import { registerHooks } from 'node:module';
  import { appendFileSync } from 'node:fs';
  const process_ = process.argv[3] === 'http' ? 'worker' : process.argv[2] === 'run' ? 'primary' : 'other';
  registerHooks({
    load(url, context, next) {
      appendFileSync(${JSON.stringify(log)}, process_ + ' ' + url + '\\n');
      return next(url, context);
    },
  });`;

/** The modules that a file of the bundle is made of; a file of a package is itself. */
function modulesIn(url: string): string[] {
  const map = join(folder, `${basename(url)}.map`);
  return existsSync(map) ? (JSON.parse(readFileSync(map, 'utf8')) as { sources: string[] }).sources : [url];
}

const later =
  /hyparquet|hash-wasm|undici|nodemailer|ldapts|openid-client|@aws-sdk|@azure|@google-cloud|\/pg\/|wasmoon|adapters\/(s3|azure|gs)\/|drivers\/(postgres|dynamodb|cosmosdb)|(iceberg|metastore)\/src\/|src\/scim\/|collector\/collect\.ts|sample-files|lua-worker/;

describe('until a server on local stores answers', () => {
  let reads: { readonly process: string; readonly module: string }[];
  const readBy = (process: string): string[] =>
    reads.filter((read) => read.process === process).map(({ module }) => module);

  beforeAll(async () => {
    const preload = `data:text/javascript,${encodeURIComponent(noteReads)}`;
    const server = await startSvc(['--quickstart'], {
      NODE_OPTIONS: `--import "${preload}"`,
      SVC_SERVER_WORKERS: '1',
    });
    const lines = readFileSync(log, 'utf8').trim().split('\n');
    await server.stop();
    reads = lines.flatMap((line) => {
      const [process = '', url = ''] = line.split(' ');
      return modulesIn(url).map((module) => ({ process, module }));
    });
  });

  test('the primary process has read nothing of the engine and the protocols', () => {
    const read = readBy('primary');
    expect(read.some((module) => module.endsWith('processes/supervisor.ts'))).toBe(true);
    // It derives the root key for all, and needs nothing else of access control.
    const notItsOwn =
      /packages\/(engine|sstable|block|api|gateway|actions|events|auth)\/src(?!\/crypto\/root-key\.ts)/;
    expect(read.filter((module) => notItsOwn.test(module) || later.test(module))).toEqual([]);
  });

  test('a worker has read nothing of remote stores, identity sources and rare formats', () => {
    const read = readBy('worker');
    expect(read.some((module) => module.endsWith('engine/src/engine.ts'))).toBe(true);
    expect(read.filter((module) => later.test(module))).toEqual([]);
  });
});
