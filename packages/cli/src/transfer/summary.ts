import type { Output } from '../output/output.ts';

export interface Tally {
  downloaded: number;
  uploaded: number;
  removed: number;
}

export function emptyTally(): Tally {
  return { downloaded: 0, uploaded: 0, removed: 0 };
}

/** What a transfer did; `operation` is a name such as `Download` or `Pull`. */
export function printSummary(out: Output, operation: string, tally: Tally): void {
  if (out.json) return;
  out.line();
  out.line(`${operation} Summary:`);
  out.line();
  if (tally.downloaded + tally.uploaded + tally.removed === 0) {
    out.line('No changes');
    return;
  }
  out.line(out.paint(`Downloaded: ${tally.downloaded}`, 'green'));
  out.line(out.paint(`Uploaded: ${tally.uploaded}`, 'yellow'));
  out.line(out.paint(`Removed: ${tally.removed}`, 'red'));
  out.line();
}
