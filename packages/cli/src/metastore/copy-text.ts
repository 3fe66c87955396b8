import { describeOutcome, type CopyOutcome } from '@svc/metastore';

/** What was done, or would be. */
export function outcomeText(outcome: CopyOutcome, dryRun: boolean): string {
  const { unchanged } = outcome.partitions;
  const done = describeOutcome(outcome);
  const same = unchanged === 0 ? '' : `${unchanged} partition${unchanged === 1 ? '' : 's'} unchanged`;
  const text = [done, same].filter((part) => part !== '').join(', ');
  return dryRun ? `dry run: ${text}` : text;
}
