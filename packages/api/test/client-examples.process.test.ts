import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand, tempDir } from '@svc/testing';
import { memEngine } from './mem-engine.ts';
import { adminKey, startApi } from './start-api.ts';
import type { RunningApi } from './start-api.ts';

let api: RunningApi;

beforeAll(async () => {
  api = await startApi(memEngine);
});

afterAll(() => api.stop());

const client = join(import.meta.dirname, '../../client');
const readme = readFileSync(join(client, 'README.md'), 'utf8');
const examples = [...readme.matchAll(/```ts\n(.*?)```/gs)].map((match) => match[1] ?? '');

/** Runs an example of the README as a program of its own, against this server instead of the one it names. */
async function run(example: string): Promise<string[]> {
  const program = example
    .replaceAll("'@svc/client'", `'${pathToFileURL(join(client, 'src/index.ts')).href}'`)
    .replaceAll('http://localhost:8000', `http://127.0.0.1:${api.port}`)
    .replaceAll("accessKeyId: 'AKIA…'", `accessKeyId: '${adminKey.accessKeyId}'`)
    .replaceAll("secretAccessKey: '…'", `secretAccessKey: '${adminKey.secretAccessKey}'`)
    .replaceAll('local://', 'mem://');
  const file = join(tempDir('svc-example'), 'example.ts');
  writeFileSync(file, program);
  return (await runCommand(process.execPath, [file])).trim().split('\n');
}

test('the examples of the client do what they say', async () => {
  expect(examples).toHaveLength(2);
  expect(await run(examples[0] ?? '')).toEqual(['hello', 'Add a.txt', 'main']);
  expect(await run(examples[1] ?? '')).toEqual(['repository not found']);
});
