import { ownBytes } from '@svc/encoding';
import type { DifferenceNews, KnownDifference } from '@svc/engine';
import type { Exchange } from '../processes/exchange.ts';

/** Bytes of keys: telling of more costs others as much as finding it out. */
const mostBytes = 128 * 1024;

interface Told {
  readonly ids: readonly [string, string];
  /** One after the other, in base64. */
  readonly keys: string;
  readonly lengths: readonly number[];
}

/** A request may come to any worker: in which keys two trees differ is found out by one, and told to the others. */
export function differenceNews(exchange: Exchange): DifferenceNews {
  return {
    tell({ oneId, otherId, keys }) {
      const lengths = keys.map(({ length }) => length);
      if (lengths.reduce((sum, length) => sum + length, 0) > mostBytes) return;
      const told: Told = { ids: [oneId, otherId], keys: Buffer.concat(keys).toString('base64'), lengths };
      exchange.tell('http', 'difference-found', told);
    },
    hear(listener) {
      exchange.hear('difference-found', (payload) => listener(differenceOf(payload as Told)));
    },
  };
}

function differenceOf({ ids: [oneId, otherId], keys, lengths }: Told): KnownDifference {
  const bytes = ownBytes(Buffer.from(keys, 'base64'));
  let end = 0;
  return { oneId, otherId, keys: lengths.map((length) => bytes.subarray(end, (end += length))) };
}
