import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { cancellable } from '../../cancel.ts';
import { action, type CommandContext } from '../../context.ts';
import { CliError } from '../../errors.ts';
import type { Change } from '../../local/changes.ts';
import { fileRules } from '../../local/file-rules.ts';
import { FolderSync } from '../../local/folder-sync.ts';
import { IgnoreRules } from '../../local/ignore.ts';
import { diffFolder } from '../../local/local-diff.ts';
import { listFolder } from '../../local/remote-listing.ts';
import { walkFolder } from '../../local/walk.ts';
import { printObject } from '../../output/object-block.ts';
import { presignSupport } from '../../presign.ts';
import { Progress } from '../../transfer/progress.ts';
import { printSummary } from '../../transfer/summary.ts';
import { parallelismOf, withTransferFlags, type TransferFlags } from '../../transfer/transfer-flags.ts';
import { Uploader } from '../../transfer/uploader.ts';
import { formatUri, type PathUri } from '../../uri.ts';

interface UploadFlags extends TransferFlags {
  readonly source: string;
  readonly recursive?: boolean;
  readonly contentType?: string;
}

const cancelled = 'upload cancelled';

export function registerUpload(fs: Command): void {
  withTransferFlags(
    fs
      .command('upload')
      .description('upload a file, or the files of a folder that changed')
      .argument('<path URI>')
      .requiredOption('-s, --source <path>', 'the file or folder to upload, - for standard input')
      .option('-r, --recursive', 'upload a folder; nothing is deleted, neither here nor there')
      .option('--content-type <type>', 'MIME type of the object'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  svcctl fs upload svc://my-repo/main/prices.csv --source prices.csv\n  svcctl fs upload svc://my-repo/main/tables/ --source tables --recursive',
    )
    .action(
      action<[string], UploadFlags>(async (context, [uriText], flags) => {
        const uri = context.uris.path(uriText, 'path URI');
        const isFolder = flags.source !== '-' && (await isDirectory(flags.source));
        if (isFolder && flags.recursive !== true) {
          throw new CliError(`${flags.source} is a directory: use --recursive to upload it`);
        }
        if (isFolder) await uploadFolder(context, uri, flags);
        else await withSourceFile(flags.source, (file) => uploadFile(context, uri, file, flags));
      }),
    );
}

async function uploadFile(
  context: CommandContext,
  uri: PathUri,
  file: string,
  flags: UploadFlags,
): Promise<void> {
  const { transport, out } = context;
  const presign = await presignSupport(context, uri.repository, flags.preSign);
  const uploader = new Uploader({
    transport,
    repository: uri.repository,
    branch: uri.ref,
    presign,
  });
  const { size } = await stat(file);
  const progress = await Progress.start({
    out,
    title: 'Uploading',
    off: !flags.progress,
    lines: false,
    pad: 0,
  });
  const item = progress.item(basename(uri.path), size);
  try {
    const stats = await cancellable(cancelled, (signal) =>
      uploader.upload({
        path: uri.path,
        file,
        size,
        contentType: flags.contentType,
        signal,
        onBytes: item.onBytes,
      }),
    );
    progress.stop();
    printObject(out, stats);
  } finally {
    progress.stop();
  }
}

/** Uploads what is missing or different at the destination. */
async function uploadFolder(context: CommandContext, uri: PathUri, flags: UploadFlags): Promise<void> {
  const { client, transport, out } = context;
  const prefix = uri.path === '' || uri.path.endsWith('/') ? uri.path : `${uri.path}/`;
  const root = resolve(flags.source);
  const rules = fileRules(context.config);
  const ignored = IgnoreRules.of(root);
  out.info('');
  out.info(`diff 'local://${flags.source}/' <--> '${formatUri({ ...uri, path: prefix })}'...`);
  const remote = listFolder(
    { client, repository: uri.repository, ref: uri.ref, prefix },
    rules,
    ignored,
    (text) => {
      out.warning(text);
    },
  );
  const changes = diffFolder(root, walkFolder(root, rules, ignored), remote, rules);
  const sync = new FolderSync({
    transport,
    out,
    root,
    repository: uri.repository,
    branch: uri.ref,
    ref: uri.ref,
    prefix,
    rules,
    presign: await presignSupport(context, uri.repository, flags.preSign),
    parallelism: parallelismOf(context, flags),
    noProgress: !flags.progress,
    title: 'Upload',
    contentType: flags.contentType,
  });
  const tally = await cancellable(cancelled, (signal) => sync.apply(uploads(changes), signal));
  printSummary(out, 'Upload', tally);
  if (out.json) out.document(tally);
}

async function* uploads(changes: AsyncIterable<Change>): AsyncGenerator<Change> {
  for await (const change of changes) if (change.kind !== 'removed') yield change;
}

async function isDirectory(source: string): Promise<boolean> {
  const found = await stat(source).catch((error: unknown) => {
    throw new CliError(`cannot read the source: ${error instanceof Error ? error.message : String(error)}`);
  });
  return found.isDirectory();
}

/** Standard input and other streams are spooled first: a retry must be able to read them again. */
async function withSourceFile<T>(source: string, use: (file: string) => Promise<T>): Promise<T> {
  if (source !== '-' && (await stat(source)).isFile()) return use(source);
  const folder = await mkdtemp(join(tmpdir(), 'svcctl-'));
  try {
    const file = join(folder, 'stdin');
    await pipeline(
      source === '-' ? process.stdin : createReadStream(source),
      createWriteStream(file, { mode: 0o600 }),
    );
    return await use(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
