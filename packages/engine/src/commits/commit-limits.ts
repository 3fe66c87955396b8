import type { StringMap } from '@svc/encoding';
import { invalid } from '../context/refusals.ts';

/** Message and metadata of one commit together. */
const maxCommitBytes = 256 * 1024;

export function checkCommitSize(message: string, metadata: StringMap): void {
  let size = Buffer.byteLength(message);
  for (const [key, value] of Object.entries(metadata))
    size += Buffer.byteLength(key) + Buffer.byteLength(value);
  if (size > maxCommitBytes) {
    throw invalid(
      `commit message and metadata of ${size} bytes are above the maximum of ${maxCommitBytes}`,
      'commit',
    );
  }
}
