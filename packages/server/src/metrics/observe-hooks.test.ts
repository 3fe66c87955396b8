import { expect, test } from 'vitest';
import { createMetrics } from './metrics.ts';
import { observeHooks } from './observe-engine.ts';

test('hooks are counted by action and result, and beyond many names together', async () => {
  const metrics = createMetrics();
  const observer = observeHooks(metrics);
  const end = (action: string, status: 'completed' | 'failed') =>
    observer.hookEnded({ event: 'pre-commit', action, type: 'lua', status, seconds: 1 });
  for (let index = 0; index < 210; index += 1) end(`action ${index}`, 'completed');
  end('action 0', 'failed');
  const { values } = await metrics.hooksEnded.get();
  const count = (action: string, status: string): number | undefined =>
    values.find(({ labels }) => labels.action === action && labels.status === status)?.value;
  expect(count('action 0', 'completed')).toBe(1);
  expect(count('action 0', 'failed')).toBe(1);
  expect(count('action 199', 'completed')).toBe(1);
  expect(count('action 200', 'completed')).toBeUndefined();
  expect(count('other', 'completed')).toBe(10);
});
