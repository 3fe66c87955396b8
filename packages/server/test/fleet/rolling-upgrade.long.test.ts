import { previousBundle } from '@svc/testing';
import { expect, test } from 'vitest';
import { upgrade } from './ordeal.ts';

test('servers are upgraded one by one, and back, while people work: nothing is lost', async () => {
  const work = await upgrade(2, previousBundle());
  expect(work.written.size).toBeGreaterThan(100);
  expect(work.merged.size).toBeGreaterThan(0);
});
