import { existsSync, statSync } from 'node:fs';
import { mkdir, rm, symlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { forEachParallel, type ObjectStats } from '@svc/client';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { cancellable } from '../../cancel.ts';
import { action, type CommandContext } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { wholeNumber } from '../../list-flag.ts';
import { symlinkTargetKey } from '../../local/entry.ts';
import { defaultPartSize } from '../../local/folder-sync.ts';
import { listObjects } from '../../local/remote-listing.ts';
import { pinTime } from '../../pin-time.ts';
import { presignSupport } from '../../presign.ts';
import { Downloader } from '../../transfer/downloader.ts';
import { Progress } from '../../transfer/progress.ts';
import { SafeFolder } from '../../transfer/safe-path.ts';
import { emptyTally, printSummary } from '../../transfer/summary.ts';
import { parallelismOf, withTransferFlags, type TransferFlags } from '../../transfer/transfer-flags.ts';
import { formatUri, type PathUri } from '../../uri.ts';
import { archiveName, downloadArchive } from './download-archive.ts';

const minPartSize = 65_536;
const cancelled = 'download cancelled';

interface DownloadFlags extends TransferFlags {
  readonly recursive?: boolean;
  readonly archive?: boolean;
  readonly partSize: number;
}

export function registerDownload(fs: Command): void {
  withTransferFlags(
    fs
      .command('download')
      .description('download an object, or everything below a path')
      .argument('<path URI>')
      .argument('[destination]', 'file or folder (default: the current folder)')
      .option('-r, --recursive', 'download everything below the path')
      .addOption(
        new Option('--archive', 'download everything below the path as one zip file').conflicts('recursive'),
      )
      .option('--part-size <bytes>', 'size of the ranges of large objects', partSize, defaultPartSize),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  svcctl fs download svc://my-repo/main/prices.csv\n  svcctl fs download --recursive svc://my-repo/main/tables/ ./tables\n  svcctl fs download --archive svc://my-repo/main/tables/ tables.zip',
    )
    .action(
      action<[string, string | undefined], DownloadFlags>(async (context, [uriText, destination], flags) => {
        const uri = context.uris.path(uriText, 'path URI');
        if (flags.archive === true) {
          const target = targetOf(archiveName(uri), expandHome(destination ?? '.'));
          await downloadArchive(context, uri, target);
          return;
        }
        const run = flags.recursive === true ? downloadFolder : downloadFile;
        await run(context, uri, expandHome(destination ?? '.'), flags);
      }),
    );
}

function partSize(text: string): number {
  const value = wholeNumber(text);
  if (value < minPartSize) throw new InvalidArgumentError(`the minimum is ${minPartSize}.`);
  return value;
}

function expandHome(path: string): string {
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path;
}

function downloaderFor(
  context: CommandContext,
  uri: PathUri,
  flags: DownloadFlags,
  presign: boolean,
): Downloader {
  return new Downloader({
    transport: context.transport,
    repository: uri.repository,
    ref: uri.ref,
    presign,
    partSize: flags.partSize,
    verifyChecksum: context.config.get('local.verify_checksum'),
  });
}

async function downloadFile(
  context: CommandContext,
  uri: PathUri,
  destination: string,
  flags: DownloadFlags,
): Promise<void> {
  const { client, out } = context;
  const pinned = await pinTime(client, uri);
  const { repository, ref, path } = pinned;
  const target = targetOf(uri.path.split('/').at(-1) ?? '', destination);
  const stats = await client.get('/repositories/{repository}/refs/{ref}/objects/stat', {
    params: { path: { repository, ref }, query: { path, user_metadata: true } },
  });
  const { supported } = await presignSupport(context, repository, flags.preSign);
  const downloader = downloaderFor(context, pinned, flags, supported);
  await mkdir(dirname(target), { recursive: true });
  const progress = await Progress.start({
    out,
    title: 'Downloading',
    off: !flags.progress,
    lines: false,
    pad: 0,
  });
  const item = progress.item(basename(target), stats.size_bytes ?? 0);
  try {
    const link = linkOf(context, stats);
    await cancellable(cancelled, async (signal) => {
      if (link === undefined)
        await downloader.download({ path, target, stats, signal, onBytes: item.onBytes });
      else await makeLink(link, target);
    });
  } finally {
    progress.stop();
  }
  out.info(`download: ${formatUri(uri)} to ${target}`);
  if (out.json) out.document({ path, destination: target });
}

/** A folder, or a name given with a separator at its end, receives a file under its own name. */
function targetOf(name: string, destination: string): string {
  const isFolder =
    /[/\\]$/.test(destination) || (existsSync(destination) && statSync(destination).isDirectory());
  if (!isFolder) return resolve(destination);
  return new SafeFolder(destination).pathOf(name);
}

async function downloadFolder(
  context: CommandContext,
  uri: PathUri,
  destination: string,
  flags: DownloadFlags,
): Promise<void> {
  const { client, out } = context;
  const prefix = uri.path === '' || uri.path.endsWith('/') ? uri.path : `${uri.path}/`;
  const folder = new SafeFolder(destination);
  const pinned = await pinTime(client, uri);
  const { supported: presign } = await presignSupport(context, uri.repository, flags.preSign);
  const downloader = downloaderFor(context, pinned, flags, presign);
  const progress = await Progress.start({
    out,
    title: 'Download',
    off: !flags.progress,
    lines: true,
    pad: 0,
  });
  const tally = emptyTally();
  let found = 0;
  const downloadOne = async (stats: ObjectStats, signal: AbortSignal): Promise<void> => {
    found += 1;
    const name = stats.path.slice(prefix.length);
    if (name === '' || name.endsWith('/')) return;
    const target = folder.prepare(name);
    const item = progress.item(`download ${name}`, stats.size_bytes ?? 0);
    try {
      const link = linkOf(context, stats);
      if (link === undefined) {
        await downloader.download({ path: stats.path, target, stats, signal, onBytes: item.onBytes });
      } else await makeLink(link, target);
    } catch (error) {
      item.fail();
      throw error;
    }
    item.done();
    tally.downloaded += 1;
  };
  try {
    const objects = listObjects({ client, repository: uri.repository, ref: pinned.ref, prefix, presign });
    await cancellable(cancelled, (signal) =>
      forEachParallel(objects, parallelismOf(context, flags), downloadOne, signal),
    );
  } finally {
    progress.stop();
  }
  if (found === 0) throw new CliError(`No objects in path: ${formatUri({ ...uri, path: prefix })}`);
  printSummary(out, 'Download', tally);
  if (out.json) out.document(tally);
}

function linkOf(context: CommandContext, stats: ObjectStats): string | undefined {
  return context.config.get('local.symlink_support') ? stats.metadata?.[symlinkTargetKey] : undefined;
}

async function makeLink(link: string, target: string): Promise<void> {
  await rm(target, { force: true });
  await symlink(link, target);
}
