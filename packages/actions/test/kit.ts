import { EngineError, type Repository } from '@svc/engine';
import { afterEach, expect } from 'vitest';
import { openHouse, startReceiver, type House, type Received } from './house.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

export async function house(options: Parameters<typeof openHouse>[0] = {}): Promise<House> {
  const opened = await openHouse(options);
  closers.push(() => opened.close());
  await opened.create();
  return opened;
}

export async function receiver(answer?: Parameters<typeof startReceiver>[0]) {
  const started = await startReceiver(answer);
  closers.push(() => started.close());
  return started;
}

export const webhook = (name: string, on: string, url: string, more = ''): string =>
  `name: ${name}\non: ${on}\nhooks:\n  - id: call_it\n    type: webhook\n    properties:\n      url: ${url}\n${more}`;

export const lua = (
  name: string,
  on: string,
  ...hooks: readonly (readonly [id: string, script: string, condition?: string])[]
) =>
  `name: ${name}\non: ${on}\nhooks:\n${hooks
    .map(
      ([id, script, condition]) =>
        `  - id: ${id}\n    type: lua\n${condition === undefined ? '' : `    if: ${condition}\n`}    properties: {script: ${JSON.stringify(script)}}\n`,
    )
    .join('')}`;

export async function refusal(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => new Error('it passed'),
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(EngineError);
  expect((error as EngineError).kind).toBe('hook_aborted');
  return (error as EngineError).message;
}

export async function logOf(at: House, runId: string, hookRunId = '0000_0000'): Promise<string> {
  const repository = await at.engine.repositories.get('repo');
  const body = await at.hooks.readLog(repository, runId, hookRunId);
  return body?.bytes?.toString() ?? 'no log';
}

export async function manifestOf(at: House, repository: Repository, runId: string): Promise<unknown> {
  await at.hooks.writeFiles();
  const body = await at.blocks.get(repository.storageId).get({
    storageNamespace: repository.storageNamespace,
    identifier: `${repository.metadataPrefix}/actions/log/${runId}/run.manifest`,
    identifierType: 'relative',
  });
  return JSON.parse(body.bytes?.toString() ?? '');
}

export const idOf = (message: string): string => /run id '(\w+)'/.exec(message)?.[1] ?? '';
export const payloadsOf = (received: readonly Received[]) =>
  received.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
