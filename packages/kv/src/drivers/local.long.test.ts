import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import { crashRounds, missing } from '../../test/crash-rounds.ts';
import { nextLine, startChild } from '../../test/child.ts';

test('1 000 short rounds of kill -9 on fifty stores lose nothing acknowledged', async () => {
  for (let store = 0; store < 50; store += 1) {
    const result = await crashRounds({ path: tempDir('svc-kv-crash'), rounds: 20, acknowledgements: 200 });
    expect(result.lost).toEqual([]);
  }
});

test('100 longer rounds of kill -9 lose nothing acknowledged', async () => {
  const result = await crashRounds({ path: tempDir('svc-kv-crash'), rounds: 100, acknowledgements: 5000 });
  expect(result.lost).toEqual([]);
  expect(result.survivorSlowestMs).toBeLessThan(30_000);
});

test('a store that is opened 20 000 times beside a writer loses nothing acknowledged', async () => {
  const path = tempDir('svc-kv-opened');
  const acknowledged: string[] = [];
  const writer = startChild('write-forever.ts', path, 'writer');
  writer.lines.on('line', (line: string) => acknowledged.push(line));
  await nextLine(writer);
  const openers = [startChild('open-often.ts', path, '10000'), startChild('open-often.ts', path, '10000')];
  expect(await Promise.all(openers.map(nextLine))).toEqual(['10000', '10000']);
  writer.process.send('stop');
  expect(await writer.ended).toEqual([0, null]);
  expect(await missing(path, acknowledged)).toEqual([]);
});
