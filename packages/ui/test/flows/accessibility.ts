import { expect, test } from 'vitest';
import { check, everything, look } from '../look-at-screens.ts';
import type { Stage } from '../stage.ts';

/** The screens of every day; `screens.ts` has all of them. */
export function accessibilityFlows(stage: Stage): void {
  test('the screens of every day meet WCAG 2.2 AA in both themes and fit a phone', async () => {
    const { stations } = await stage.sample('axe');
    await stage.branch('axe', 'topic');
    await stage.write('axe', 'topic', { 'data/stations.csv': stations.replace('Cape', 'Bay') });
    await stage.commit('axe', 'topic', 'Change stations');
    await stage.write('axe', 'topic', { 'new.txt': 'n' });
    const { id } = await stage.client.post('/repositories/{repository}/pulls', {
      params: { path: { repository: 'axe' } },
      body: { title: 'Stations', description: 'Text', source_branch: 'topic', destination_branch: 'main' },
    });
    await stage.play(async (ui) => {
      const problems = await look(ui, [
        ['/repositories', 'Create repository'],
        [
          '/repositories/axe/objects?ref=topic',
          '+ Added',
          async () => await ui.field('Select new.txt').click(),
        ],
        ['/repositories/axe/objects?ref=topic&upload=true', 'Choose files'],
        ['/repositories/axe/object?ref=main&path=weather.parquet', '2,190 rows'],
        ['/repositories/axe/commits', 'Add sample data'],
        ['/repositories/axe/branches', 'Change stations', async () => await ui.sees('Add sample data')],
        [`/repositories/axe/pulls/${id}`, 'stations.csv'],
        ['/repositories/axe/compare?ref=main&compare=topic&file=data%2Fstations.csv', '~ 1 row'],
        ['/repositories/axe/settings/general', 'local://axe'],
        ['/auth/users', 'quickstart'],
      ]);
      expect(problems).toEqual([]);
    });
  }, 120_000);

  test('the login meets WCAG 2.2 AA', async () => {
    await stage.play(
      async (ui) => {
        await ui.open('/auth/login');
        await ui.button('Log in').waitFor();
        expect(await check(ui, 'login', everything)).toEqual([]);
      },
      { loggedIn: false },
    );
  });
}
