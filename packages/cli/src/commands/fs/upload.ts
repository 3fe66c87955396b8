import { openAsBlob } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { createWriteStream } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ObjectStats } from '@svc/client';
import type { Command } from 'commander';
import { action, type CommandContext } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { printObject } from '../../output/object-block.ts';
import { presignSupport } from '../../presign.ts';
import type { PathUri } from '../../uri.ts';
import { presignOption } from './presign-option.ts';

interface UploadFlags {
  readonly source: string;
  readonly contentType?: string;
  readonly preSign: boolean;
}

export function registerUpload(fs: Command): void {
  fs.command('upload')
    .description('upload a file')
    .argument('<path URI>')
    .requiredOption('-s, --source <file>', 'the file to upload, - for standard input')
    .option('--content-type <type>', 'MIME type of the object')
    .addOption(presignOption())
    .addHelpText('after', '\nExample:\n  svcctl fs upload svc://my-repo/main/prices.csv --source prices.csv')
    .action(
      action<[string], UploadFlags>(async (context, [uriText], flags) => {
        const uri = context.uris.path(uriText, 'path URI');
        const stats = await withSourceFile(flags.source, (file) => uploadFile(context, uri, file, flags));
        printObject(context.out, stats);
      }),
    );
}

async function uploadFile(
  context: CommandContext,
  uri: PathUri,
  file: string,
  flags: UploadFlags,
): Promise<ObjectStats> {
  const { repository, ref: branch, path } = uri;
  const { supported } = await presignSupport(context, repository, flags.preSign);
  const body = await openAsBlob(file);
  const target = { repository, branch, path, body, contentType: flags.contentType };
  return supported ? context.client.objects.uploadPresigned(target) : context.client.objects.upload(target);
}

/** Standard input is spooled first: a retry must be able to read it again. */
async function withSourceFile<T>(source: string, use: (file: string) => Promise<T>): Promise<T> {
  if (source !== '-') {
    const found = await stat(source).catch((error: unknown) => {
      throw new CliError(`cannot read the source: ${error instanceof Error ? error.message : String(error)}`);
    });
    if (found.isDirectory()) throw new CliError(`${source} is a directory: use --recursive to upload it`);
    return use(source);
  }
  const folder = await mkdtemp(join(tmpdir(), 'svcctl-'));
  try {
    const file = join(folder, 'stdin');
    await pipeline(process.stdin, createWriteStream(file, { mode: 0o600 }));
    return await use(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
