import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { expectStatus } from '@svc/client';
import { cancellable } from '../../cancel.ts';
import type { CommandContext } from '../../context.ts';
import { pinTime } from '../../pin-time.ts';
import { formatUri, type PathUri } from '../../uri.ts';

/** Writes a folder as one zip archive, made by the server. The file appears when it is complete, never before. */
export async function downloadArchive(context: CommandContext, uri: PathUri, target: string): Promise<void> {
  const { client, transport, out } = context;
  const prefix = folderOf(uri);
  const { repository, ref } = await pinTime(client, uri);
  await mkdir(dirname(target), { recursive: true });
  const part = `${target}.svcpart-${randomBytes(6).toString('hex')}`;
  try {
    await cancellable('download cancelled', async (signal) => {
      const answer = await transport.call({
        method: 'GET',
        path: '/repositories/{repository}/refs/{ref}/archive',
        params: { path: { repository, ref }, query: { prefix } },
        signal,
      });
      await expectStatus(answer, 200);
      await pipeline(answer.body.stream(), createWriteStream(part, { flags: 'wx' }), { signal });
    });
    await rename(part, target);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  out.info(`download: ${formatUri({ ...uri, path: prefix })} to ${target}`);
  if (out.json) out.document({ path: prefix, destination: target });
}

function folderOf({ path }: PathUri): string {
  return path === '' || path.endsWith('/') ? path : `${path}/`;
}

/** The name of the archive of a folder: its own, or the repository's. */
export function archiveName({ repository, path }: PathUri): string {
  const name = path.split('/').findLast((part) => part !== '') ?? repository;
  return `${name}.zip`;
}
