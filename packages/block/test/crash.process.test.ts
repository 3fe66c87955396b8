import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { tempDir } from '@svc/testing';
import { expect, it } from 'vitest';
import { openBlockStore, type ObjectPointer } from '../src/index.ts';

const size = 20_000;
const at = (identifier: string): ObjectPointer => ({
  storageNamespace: 'local://ns',
  identifier,
  identifierType: 'relative',
});

/** Writes until it is killed, telling of each object once it is acknowledged; returns the told names. */
async function writeUntilKilled(path: string, round: number, acknowledged: number): Promise<string[]> {
  const script = `
    import { openBlockStore } from ${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)};
    const adapter = await openBlockStore({ type: 'local', path: ${JSON.stringify(path)} });
    let next = 0;
    await Promise.all(Array.from({ length: 16 }, async () => {
      for (;;) {
        const index = next++;
        const identifier = (index % 2 ? 'fresh/' : 'named/') + '${round}-' + index;
        const body = Buffer.alloc(${size}, index % 256);
        const pointer = { storageNamespace: 'local://ns', identifier, identifierType: 'relative' };
        await adapter.put(pointer, body, { fresh: index % 2 === 1 });
        process.stdout.write(identifier + '\\n');
      }
    }));
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // Until then the process is still in the table, and its folder is rightly left alone.
  const gone = once(child, 'exit');
  const told: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    told.push(line);
    if (told.length === acknowledged) child.kill('SIGKILL');
  }
  await gone;
  return told;
}

it('a killed writer loses nothing acknowledged and shows nothing half-written', async () => {
  const path = tempDir();
  const told: string[] = [];
  for (let round = 0; round < 5; round++)
    told.push(...(await writeUntilKilled(path, round, 40 + 37 * round)));
  expect(told.length).toBeGreaterThan(400);
  const adapter = await openBlockStore({ type: 'local', path });
  const whole = async (identifier: string): Promise<boolean> => {
    const { bytes } = await adapter.get(at(identifier));
    const index = Number(identifier.split('-')[1]);
    return bytes?.equals(Buffer.alloc(size, index % 256)) ?? false;
  };
  for (const identifier of told) expect(await whole(identifier), identifier).toBe(true);
  // A name that was given is whole or absent, acknowledged or not.
  for (const name of readdirSync(join(path, 'ns', 'named')))
    expect(await whole(`named/${name}`), name).toBe(true);
  // What the killed writers left behind was swept when the store was opened.
  const temporary = readdirSync(join(path, '.svc-tmp'));
  expect(temporary.length).toBe(1);
  expect(readdirSync(join(path, '.svc-tmp', temporary[0] ?? ''))).toEqual([]);
  await adapter.close();
});
