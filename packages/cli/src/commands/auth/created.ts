import { formatDate } from '../../output/format.ts';
import type { Output } from '../../output/output.ts';

/** Prints a user or group that was created. */
export function printCreated(
  out: Output,
  kind: string,
  made: { readonly id: string; readonly creation_date: number },
): void {
  if (out.json) {
    out.document(made);
    return;
  }
  out.line(out.paint(`${kind} created successfully.`, 'green'));
  out.line(`ID: ${out.paint(made.id, 'bold')}`);
  out.line(`Creation Date: ${formatDate(made.creation_date)}`);
}
