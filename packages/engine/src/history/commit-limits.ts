import type { StringMap } from '@svc/encoding';
import { checkTexts } from '../names/text-limits.ts';

/** Message and metadata of one commit together. */
export function checkCommitSize(message: string, metadata: StringMap): void {
  checkTexts('commit message and metadata', 'commit', [message, ...Object.entries(metadata).flat()]);
}
