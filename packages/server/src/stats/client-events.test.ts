import { expect, test } from 'vitest';
import { createMetrics } from '../metrics/metrics.ts';
import { ClientEvents } from './client-events.ts';
import { createStatistics } from './statistics.ts';

test('commands of known programs are counted by name', () => {
  const events = new ClientEvents();
  expect(events.eventOf({ class: 'lakectl', name: 'fs_upload' })).toEqual({
    class: 'lakectl',
    name: 'fs_upload',
  });
  expect(events.eventOf({ class: 'svcctl', name: 'local_pull_git' })).toMatchObject({
    name: 'local_pull_git',
  });
});

test('nobody chooses the labels of our own events, or makes endless ones', async () => {
  const metrics = createMetrics();
  const statistics = createStatistics({ events: metrics.events });
  const events = new ClientEvents();
  for (let n = 0; n < 3000; n++) {
    for (const reported of [
      { class: 'api_server', name: 'getObject' },
      { class: `made up ${n}`, name: `made up ${n}` },
      { class: 'svcctl', name: `command_${n}` },
      { class: 'lakectl', name: `bad name ${n}` },
      { class: 'lakectl', name: 'x'.repeat(65 + n) },
    ]) {
      statistics.count(events.eventOf(reported), 1);
    }
  }
  const { values } = (await metrics.events.get()) as {
    values: { labels: { class: string; name: string } }[];
  };
  expect(values.length).toBeLessThan(510);
  expect(new Set(values.map(({ labels }) => labels.class))).toEqual(new Set(['other', 'svcctl', 'lakectl']));
});
