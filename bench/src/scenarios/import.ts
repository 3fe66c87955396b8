import { linkSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { timed } from '../driver/api.ts';
import { runLoad } from '../driver/http-load.ts';
import { presignTarget } from '../driver/presign.ts';
import type { RemoteStores } from '../driver/remote-stores.ts';
import { calibrateNow, filesPerFolder, folderOf, keyOf, withPeakMemory, type Bench } from './bench.ts';

/** Folders of a thousand names each; the files of a folder are links to one, which saves disk, not work. */
export function makeImportFolder(folder: string, objects: number): void {
  for (let index = 0; index < objects; index += filesPerFolder) {
    const name = join(folder, `d${String(index / filesPerFolder).padStart(4, '0')}`);
    mkdirSync(name, { recursive: true });
    const first = join(name, 'f0000');
    writeFileSync(first, `content of folder ${name}\n`);
    for (let file = 1; file < Math.min(filesPerFolder, objects - index); file += 1) {
      linkSync(first, join(name, `f${String(file).padStart(4, '0')}`));
    }
  }
}

/** The same names as objects of a bucket, written as quickly as many connections can. */
export async function fillBucket(
  { endpoint, credentials }: RemoteStores['objectStore'],
  bucket: string,
  objects: number,
): Promise<void> {
  const next = (sequence: number): string => {
    const content = `content of ${folderOf(sequence)}\n`;
    const target = presignTarget(endpoint, credentials, 'PUT', `/${bucket}/${keyOf(sequence)}`);
    return `PUT ${target} HTTP/1.1\r\nhost: ${endpoint.host}\r\ncontent-length: ${content.length}\r\n\r\n${content}`;
  };
  const { errors } = await runLoad({ endpoint, connections: 64, seconds: 3600, requests: objects, next });
  if (errors > 0) throw new Error(`${errors} of ${objects} objects were not written`);
}

interface ImportStatus {
  readonly completed: boolean;
  readonly error?: { readonly message: string };
}

/** Creates the repository and imports the objects into it. */
export async function importObjects(bench: Bench, namespace: string): Promise<void> {
  const { api, repository } = bench;
  await api.call('POST', '/repositories', { name: repository, storage_namespace: namespace });
  const run = async (): Promise<void> => {
    const { id } = await api.call<{ id: string }>(
      'POST',
      `/repositories/${repository}/branches/main/import`,
      {
        paths: [{ path: bench.importSource, destination: '', type: 'common_prefix' }],
        commit: { message: 'import' },
      },
    );
    for (;;) {
      const status = await api.call<ImportStatus>(
        'GET',
        `/repositories/${repository}/branches/main/import?id=${id}`,
      );
      if (status.error !== undefined) throw new Error(status.error.message);
      if (status.completed) return;
      await delay(50);
    }
  };
  const { milliseconds } = await withPeakMemory(bench, 'the import', () => timed(run));
  bench.report.add({
    scenario: `import ${bench.objects} ${bench.objectStore === undefined ? 'local files' : 'objects'}`,
    value: milliseconds / 1000,
    unit: 's',
    ...(bench.fullSize && { goal: 12 }),
  });
  await calibrateNow(bench);
}
