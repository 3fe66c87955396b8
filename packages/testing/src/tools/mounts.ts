import { existsSync } from 'node:fs';
import { foundOrInstalled } from '../fetch/apt-install.ts';
import { UnavailableError } from '../unavailable-error.ts';

/** What mounts need: the device, the right to mount, s3fs and the program that takes a mount away. */
export async function mounts(): Promise<string> {
  if (!existsSync('/dev/fuse') || process.getuid?.() !== 0) {
    throw new UnavailableError('mounting needs /dev/fuse, and root');
  }
  const programs = ['/usr/bin/s3fs', '/usr/bin/fusermount3'];
  const find = (): string | undefined =>
    programs.every((path) => existsSync(path)) ? '/usr/bin' : undefined;
  return foundOrInstalled('s3fs and fuse3', find, ['s3fs', 'fuse3']);
}
