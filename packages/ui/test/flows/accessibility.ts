import { AxeBuilder } from '@axe-core/playwright';
import { expect, test } from 'vitest';
import type { Stage, TestPage } from '../stage.ts';

const levels = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** In the second theme only what depends on colours can differ. */
async function check(ui: TestPage, name: string, coloursOnly = false): Promise<string[]> {
  const axe = new AxeBuilder({ page: ui.page });
  if (coloursOnly) axe.withRules(['color-contrast', 'link-in-text-block']);
  else axe.withTags(levels);
  const { violations } = await axe.analyze();
  return violations.map(
    ({ id, nodes }) => `${name}: ${id} ${nodes.map(({ target }) => String(target)).join(' | ')}`,
  );
}

export function accessibilityFlows(stage: Stage): void {
  test('every screen meets WCAG 2.2 AA in both themes and does not scroll sideways on a phone', async () => {
    await stage.client.post('/repositories', {
      body: { name: 'axe', storage_namespace: 'local://axe', sample_data: true },
    });
    await stage.branch('axe', 'topic');
    await stage.write('axe', 'topic', { 'data/stations.csv': 'id,name\n1,x\n', 'new.txt': 'n' });
    await stage.commit('axe', 'topic', 'Change stations');
    await stage.write('axe', 'topic', { 'pending.txt': 'p' });
    const { id } = await stage.client.post('/repositories/{repository}/pulls', {
      params: { path: { repository: 'axe' } },
      body: { title: 'Stations', description: 'Text', source_branch: 'topic', destination_branch: 'main' },
    });
    const screens: readonly (readonly [path: string, shows: string | RegExp])[] = [
      ['/repositories', 'Create repository'],
      ['/repositories/axe/objects', 'weather.parquet'],
      ['/repositories/axe/objects?ref=topic', '+ Added'],
      ['/repositories/axe/objects?ref=topic&showChanges=true', 'pending.txt'],
      ['/repositories/axe/objects?ref=topic&upload=true', 'Choose files'],
      ['/repositories/axe/objects?ref=topic&importDialog=true', 'No data is copied'],
      ['/repositories/axe/object?ref=main&path=README.md', 'Source'],
      ['/repositories/axe/object?ref=main&path=weather.parquet', '2,190 rows'],
      ['/repositories/axe/object?ref=main&path=weather.parquet&tab=sql', /rows in/],
      ['/repositories/axe/object?ref=main&path=weather.parquet&tab=info', 'Stored at'],
      ['/repositories/axe/object?ref=main&path=data%2Freadings%2F2026-01.json', 'Wrap lines'],
      ['/repositories/axe/commits', 'Add sample data'],
      ['/repositories/axe/commits/topic', 'Change stations'],
      ['/repositories/axe/branches', 'topic'],
      ['/repositories/axe/tags', 'No tags yet'],
      ['/repositories/axe/pulls', 'Stations'],
      ['/repositories/axe/pulls/create?ref=main&compare=topic', 'new.txt'],
      [`/repositories/axe/pulls/${id}`, 'new.txt'],
      ['/repositories/axe/compare?ref=main&compare=topic', 'new.txt'],
      ['/repositories/axe/settings/general', 'local://axe'],
      ['/repositories/axe/settings/branches', 'Is this branch protected?'],
      ['/repositories/axe/settings/retention', 'Nothing is ever collected'],
      ['/auth/credentials', 'Create access key'],
      ['/auth/users', 'quickstart'],
      ['/auth/users/quickstart/groups', 'Admins'],
      ['/auth/groups', 'Viewers'],
      ['/auth/policies', 'FSReadAll'],
      ['/auth/policies/FSReadAll', 'allow'],
      ['/nowhere', 'There is no page'],
    ];
    const problems: string[] = [];
    await stage.play(async (ui) => {
      for (const [path, shows] of screens) {
        await ui.page.emulateMedia({ colorScheme: 'light' });
        await ui.open(path);
        await ui.sees(shows);
        await ui.page.waitForLoadState('networkidle');
        problems.push(...(await check(ui, `${path} light`)));
        await ui.page.emulateMedia({ colorScheme: 'dark' });
        problems.push(...(await check(ui, `${path} dark`, true)));
        await ui.page.setViewportSize({ width: 390, height: 844 });
        const sideways = await ui.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (sideways > 0) problems.push(`${path}: ${sideways} px wider than a phone`);
        await ui.page.setViewportSize({ width: 1280, height: 800 });
      }
    });
    await stage.play(
      async (ui) => {
        await ui.open('/auth/login');
        await ui.button('Log in').waitFor();
        problems.push(...(await check(ui, 'login')));
      },
      { loggedIn: false },
    );
    expect(problems).toEqual([]);
  }, 300_000);
}
