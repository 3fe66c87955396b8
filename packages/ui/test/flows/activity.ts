import { test } from 'vitest';
import type { Stage } from '../stage.ts';

export function activityFlows(stage: Stage): void {
  test('what happens appears at once, in a repository and everywhere, and can be filtered', async () => {
    await stage.repository('lively', { 'a.txt': 'a' });
    await stage.play(async (ui) => {
      await ui.open('/repositories/lively/activity');
      await ui.sees('branch/main');
      await ui.sees('Live');
      await stage.branch('lively', 'fresh');
      await ui.sees('branch/fresh');
      await ui.open('/activity?types=svc.tag.*');
      await ui.sees('Live');
      await stage.client.post('/repositories/{repository}/tags', {
        params: { path: { repository: 'lively' } },
        body: { id: 'v1', ref: 'main' },
      });
      await ui.sees('tag/v1');
    });
  });
}
