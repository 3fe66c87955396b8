import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { VerifyParts, VerifyProgress } from '@svc/engine';
import type { KvStore } from '@svc/kv';
import { openBlocks } from '../compose/foundation.ts';
import { checkSchemaVersion } from '../compose/schema-version.ts';
import { errorText } from '../logging/index.ts';
import type { GlobalOptions } from './global-options.ts';
import { withKv } from './open-command.ts';
import { findingJson, findingText } from './verify-report.ts';

interface VerifyFlags {
  readonly json?: true;
  readonly objects?: true;
}

const clean = 0;
const damageFound = 1;
const notFinished = 2;
const progressInterval = 2000;

/** `svc verify`: reads everything committed and lists what is damaged and what that concerns. */
export async function verify(
  globals: GlobalOptions,
  repositories: readonly string[],
  flags: VerifyFlags,
): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-verify-'));
  try {
    return await withKv(globals, async ({ config, kv, foundation }) => {
      await checkSchemaVersion(kv);
      const blocks = await openBlocks(foundation);
      try {
        const metadataPrefix = config.committed.block_storage_prefix;
        const parts = {
          kv,
          blockStores: blocks,
          metadataPrefix,
          temporaryFolder: folder,
          readsObjects: flags.objects,
        };
        return await verifyAll(parts, repositories, flags.json === true);
      } finally {
        await blocks.close();
      }
    });
  } catch (error) {
    process.stderr.write(`svc: the verification did not come to its end: ${errorText(error)}\n`);
    return notFinished;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function verifyAll(parts: VerifyParts, names: readonly string[], json: boolean): Promise<number> {
  const { verifyRepository } = await import('@svc/engine');
  const show = json ? findingJson : findingText;
  const all: VerifyProgress = { commits: 0, metaRanges: 0, ranges: 0, objects: 0, bytes: 0 };
  let damages = 0;
  let count = 0;
  for await (const name of names.length > 0 ? names : allNames(parts.kv)) {
    count++;
    const timer = setInterval(
      () => process.stderr.write(`${name}: ${progressText(all)}\n`),
      progressInterval,
    );
    try {
      for await (const finding of verifyRepository(parts, name, all)) {
        if (finding.type === 'damage') damages++;
        await print(show(finding));
      }
    } finally {
      clearInterval(timer);
    }
  }
  const { metaRanges, ...others } = all;
  const summary = { type: 'summary', repositories: count, ...others, metaranges: metaRanges, damages };
  if (json) await print(JSON.stringify(summary));
  else process.stderr.write(`${count} repositories: ${progressText(all)}\n${verdict(damages)}\n`);
  return damages === 0 ? clean : damageFound;
}

async function* allNames(kv: KvStore): AsyncGenerator<string> {
  const { repositoryNames } = await import('@svc/engine');
  yield* repositoryNames(kv);
}

/** Waits for whoever reads the output: findings may be many. */
function print(line: string): Promise<void> {
  return new Promise((resolve, reject) =>
    process.stdout.write(`${line}\n`, (error) => (error ? reject(error) : resolve())),
  );
}

function progressText({ commits, metaRanges, ranges, objects, bytes }: VerifyProgress): string {
  const data = objects === 0 ? '' : `${objects} objects, `;
  return `${commits} commits, ${metaRanges} metaranges, ${ranges} ranges, ${data}${Math.ceil(bytes / 2 ** 20)} MiB read`;
}

function verdict(damages: number): string {
  if (damages === 0) return 'nothing is damaged';
  return `${damages} damaged; restore them from a backup of the block store or the key-value store`;
}
