import { gunzipSync } from 'node:zlib';
import type { BlockAdapter } from '@svc/block';
import { parquetReadObjects } from 'hyparquet';
import type { Engine } from '../src/engine.ts';

/** Keeps heads and tags only. Stored rules without any number but 0 are none at all, so one branch is named. */
export const noDays = { defaultRetentionDays: 0, branches: [{ branch: 'none', retentionDays: 1 }] };

/** The relative addresses an external collector takes for staged: it looks at the last answer's location alone. */
export async function listStaged(
  adapter: BlockAdapter,
  engine: Engine,
  repository: string,
): Promise<Set<string>> {
  let token: string | undefined;
  let location = '';
  let pages = 0;
  do {
    const page = await engine.gc.prepareUncommitted({ repository, continuationToken: token });
    token = page.continuationToken;
    location = page.location;
    pages += 1;
    if (pages > 1000) throw new Error('the pages never end');
  } while (token !== undefined);
  return new Set(await readAddresses(adapter, location));
}

/** The commits whose objects an external collector keeps. */
export async function listCommits(
  adapter: BlockAdapter,
  engine: Engine,
  repository: string,
): Promise<Set<string>> {
  const { commitsLocation } = await engine.gc.prepareCommits(repository);
  const [, ...rows] = (await readObject(adapter, commitsLocation)).toString().trimEnd().split('\n');
  return new Set(rows.map((row) => row.split(',')[0] ?? ''));
}

/** The rows of all files in a folder; a folder without one makes clients fail, or delete everything. */
export async function readAddresses(adapter: BlockAdapter, location: string): Promise<string[]> {
  const found: string[] = [];
  let files = 0;
  for await (const objects of adapter.walk(`${location}/`)) {
    for (const { uri } of objects) {
      files += 1;
      const rows = await parquetReadObjects({
        file: Uint8Array.from(await readObject(adapter, uri)).buffer,
        compressors: { GZIP: (input: Uint8Array) => new Uint8Array(gunzipSync(input)) },
      });
      found.push(...rows.map((row) => String(row['physical_address'])));
    }
  }
  if (location === '' || files === 0) throw new Error(`there is no file in '${location}'`);
  return found;
}

export async function readObject(adapter: BlockAdapter, location: string): Promise<Buffer> {
  const pointer = { storageNamespace: '', identifier: location, identifierType: 'full' } as const;
  return (await adapter.get(pointer)).bytes ?? Buffer.alloc(0);
}
