import type { KnownDifference } from '@svc/engine';
import { expect, test } from 'vitest';
import { WorkerExchange } from '../processes/exchange.ts';
import { differenceNews } from './difference-news.ts';

/** What the other worker hears of what one tells. */
function heardOf(...told: readonly KnownDifference[]): KnownDifference[] {
  const heard: KnownDifference[] = [];
  const other = new WorkerExchange(() => {});
  differenceNews(other).hear((difference) => heard.push(difference));
  const one = new WorkerExchange((message) => {
    if (message.type !== 'tell') return;
    expect(message.to).toBe('http');
    const { news, payload } = JSON.parse(JSON.stringify(message)) as typeof message;
    other.receive({ type: 'told', news, payload });
  });
  for (const difference of told) differenceNews(one).tell(difference);
  return heard;
}

test('keys of any bytes and none at all arrive as they are', () => {
  const keys = [Buffer.from([0, 255, 10]), Buffer.from('a/ä'), Buffer.from('z'.repeat(1024))];
  const told = [
    { oneId: 'one', otherId: 'other', keys },
    { oneId: 'one', otherId: 'third', keys: [] },
  ];
  expect(heardOf(...told)).toEqual(told);
});

test('what is too much to tell is found out by everybody', () => {
  const keys = Array.from({ length: 129 }, () => Buffer.alloc(1024));
  expect(heardOf({ oneId: 'one', otherId: 'other', keys })).toEqual([]);
  expect(heardOf({ oneId: 'one', otherId: 'other', keys: keys.slice(1) })).toHaveLength(1);
});
