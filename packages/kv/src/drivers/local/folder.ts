import { access, constants, mkdir, statfs } from 'node:fs/promises';
import { KvError } from '../../errors.ts';
import { diskError } from './disk-errors.ts';

/** Type numbers of statfs(2) of file systems whose memory maps and locks do not hold between machines. */
const networkFileSystems: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
  [0x73757245, 'Coda'],
  [0x0bd00bd0, 'Lustre'],
  [0x01021997, '9P'],
]);

export function networkFileSystem(type: number): string | undefined {
  return networkFileSystems.get(type >>> 0);
}

/** Creates the folder and refuses one that could not keep what is written to it. */
export async function prepareFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    // oxlint-disable-next-line no-bitwise
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw diskError('connect_failed', path, error);
  }
  const name = networkFileSystem((await statfs(path)).type);
  if (name !== undefined) {
    throw new KvError(
      'driver_configuration',
      `key-value store ${path}: the folder is on a network file system (${name}), where the local store cannot keep ` +
        'its promises; set database.local.path to a local disk, or use database.type postgres',
    );
  }
}
