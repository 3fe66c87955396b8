import type { Command } from 'commander';
import { registerCat } from './cat.ts';
import { registerCopy } from './copy.ts';
import { registerDownload } from './download.ts';
import { registerList } from './list.ts';
import { registerPresign } from './presign.ts';
import { registerRemove } from './remove.ts';
import { registerStage } from './stage.ts';
import { registerStat } from './stat.ts';
import { registerUpdateMetadata } from './update-metadata.ts';
import { registerUpload } from './upload.ts';

export function register(program: Command): void {
  const fs = program.command('fs').description('list, read, write, copy and delete objects');
  registerCat(fs);
  registerCopy(fs);
  registerDownload(fs);
  registerList(fs);
  registerPresign(fs);
  registerRemove(fs);
  registerStage(fs);
  registerStat(fs);
  registerUpdateMetadata(fs);
  registerUpload(fs);
}
