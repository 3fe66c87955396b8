import { source as axeSource } from 'axe-core';
import type { AxeResults, RunOptions } from 'axe-core';
import { waitUntil } from '@svc/testing';
import { expect, test } from 'vitest';
import type { Stage, TestPage } from '../stage.ts';

const everything: RunOptions = {
  runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] },
  resultTypes: ['violations'],
};
/** In the second theme only what depends on colours can differ. */
const coloursOnly: RunOptions = {
  runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },
  resultTypes: ['violations'],
};

async function check(ui: TestPage, name: string, options: RunOptions): Promise<string[]> {
  if (!(await ui.page.evaluate(() => 'axe' in globalThis))) await ui.page.evaluate(axeSource);
  const { violations } = await ui.page.evaluate(
    (run) => (globalThis as unknown as { axe: { run(o: RunOptions): Promise<AxeResults> } }).axe.run(run),
    options,
  );
  return violations.map(
    ({ id, nodes }) => `${name}: ${id} ${nodes.map(({ target }) => String(target)).join(' | ')}`,
  );
}

type Screen = readonly [path: string, shows: string | RegExp, act?: (ui: TestPage) => Promise<void>];

/** Active links that do not come into sight: the page may take a moment to notice its new width. */
async function activeOutOfSight(ui: TestPage): Promise<(string | null)[]> {
  const look = (): Promise<(string | null)[]> =>
    ui.page.locator('nav [aria-current]').evaluateAll((links) =>
      links
        .filter((link) => {
          const { left, right } = link.getBoundingClientRect();
          return left < 0 || right > innerWidth;
        })
        .map((link) => link.textContent),
    );
  // What is still out of sight after that is the answer.
  await waitUntil(async () => (await look()).length === 0, { timeoutMs: 5000 }).catch(() => undefined);
  return look();
}

/** Looks at each screen in both themes, then as wide as a phone. */
async function look(ui: TestPage, screens: readonly Screen[]): Promise<string[]> {
  const problems: string[] = [];
  await ui.page.emulateMedia({ colorScheme: 'light' });
  await ui.open('/repositories');
  await ui.page.getByRole('heading', { level: 1 }).waitFor();
  for (const [path, shows, act] of screens) {
    await ui.go(path);
    await ui.sees(shows);
    await act?.(ui);
    await ui.settles();
    problems.push(...(await check(ui, `${path} light`, everything)));
    await ui.page.emulateMedia({ colorScheme: 'dark' });
    problems.push(...(await check(ui, `${path} dark`, coloursOnly)));
    await ui.page.emulateMedia({ colorScheme: 'light' });
    await ui.page.setViewportSize({ width: 390, height: 844 });
    const sideways = await ui.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (sideways > 0) problems.push(`${path}: ${sideways} px wider than a phone`);
    await ui.settles();
    for (const text of await activeOutOfSight(ui))
      problems.push(`${path}: the active link "${text}" is out of sight on a phone`);
    await ui.page.setViewportSize({ width: 1280, height: 800 });
  }
  return problems;
}

export function accessibilityFlows(stage: Stage): void {
  test('data screens meet WCAG 2.2 AA in both themes and do not scroll sideways on a phone', async () => {
    await stage.sample('axe');
    await stage.branch('axe', 'topic');
    await stage.write('axe', 'topic', { 'new.txt': 'n', 'note.ipynb': '{"cells":[]}' });
    const object = (path: string): string =>
      `/repositories/axe/object?ref=main&path=${encodeURIComponent(path)}`;
    await stage.play(async (ui) => {
      const problems = await look(ui, [
        ['/repositories', 'Create repository'],
        ['/repositories/axe/objects', 'weather.parquet'],
        [
          '/repositories/axe/objects?ref=topic',
          '+ Added',
          async () => await ui.field('Select new.txt').click(),
        ],
        [
          '/repositories/axe/objects?ref=topic&path=data%2F',
          'stations.csv',
          async () => {
            await ui.button('Branch: topic').click();
            await ui.page.getByRole('option', { name: 'main' }).waitFor();
          },
        ],
        ['/repositories/axe/objects?ref=topic&showChanges=true', 'new.txt'],
        ['/repositories/axe/objects?ref=topic&upload=true', 'Choose files'],
        ['/repositories/axe/objects?ref=topic&importDialog=true', 'No data is copied'],
        [object('README.md'), 'Source'],
        [object('weather.parquet'), '2,190 rows'],
        [`${object('weather.parquet')}&tab=sql`, /rows in/],
        [`${object('weather.parquet')}&tab=info`, 'Stored at'],
        [object('data/readings/2026-01.json'), 'Wrap lines'],
        [`${object('data/readings/2026-01.json')}&view=tree`, 'root'],
        ['/nowhere', 'There is no page'],
      ]);
      expect(problems).toEqual([]);
    });
  }, 120_000);

  test('history, settings and administration meet WCAG 2.2 AA in both themes and fit a phone', async () => {
    const { stations } = await stage.sample('axe-work');
    await stage.branch('axe-work', 'topic');
    await stage.write('axe-work', 'topic', {
      'data/stations.csv': stations.replace('Cape', 'Bay'),
      'new.txt': 'n',
    });
    await stage.commit('axe-work', 'topic', 'Change stations');
    const { id } = await stage.client.post('/repositories/{repository}/pulls', {
      params: { path: { repository: 'axe-work' } },
      body: { title: 'Stations', description: 'Text', source_branch: 'topic', destination_branch: 'main' },
    });
    await stage.branch('axe-work', 'gone');
    await stage.client.delete('/repositories/{repository}/branches/{branch}', {
      params: { path: { repository: 'axe-work', branch: 'gone' } },
    });
    await stage.repository('axe-gone');
    await stage.client.delete('/repositories/{repository}', { params: { path: { repository: 'axe-gone' } } });
    const bound = { repository: 'axe-work', ref: 'main' };
    await stage.client.post('/aliases', { body: { name: 'axe-bucket', ...bound } });
    await stage.client.put('/aliases/{alias}', {
      params: { path: { alias: 'axe-bucket' } },
      body: { ...bound, ref: 'topic', pin: true },
    });
    const hook = await stage.client.post('/events/subscriptions', {
      body: { url: 'http://127.0.0.1:9/', repository: 'axe-work', enabled: false },
    });
    await stage.play(async (ui) => {
      const problems = await look(ui, [
        ['/repositories/axe-work/commits', 'Add sample data'],
        ['/repositories/axe-work/commits/topic', 'Change stations'],
        ['/repositories/axe-work/branches', 'Change stations', async () => await ui.sees('Add sample data')],
        ['/repositories/axe-work/branches?tab=deleted', 'gone'],
        ['/repositories/axe-work/tags', 'No tags yet'],
        ['/repositories/axe-work/tags?tab=deleted', 'No deleted tags'],
        ['/repositories?tab=deleted', 'axe-gone'],
        [
          '/repositories/axe-work/history?ref=topic',
          'commit',
          async () => {
            await ui.button('Actions of commit of topic').click();
            await ui.page.getByRole('menuitem', { name: 'Roll back to before this' }).click();
            await ui.sees('2 changes');
          },
        ],
        ['/repositories/axe-work/objects?ref=topic%40%7B1%7D', 'Back to now'],
        [
          '/repositories/axe-work/objects?ref=topic',
          'new.txt',
          async () => {
            await ui.button('Branch: topic').click();
            await ui.page.getByRole('tab', { name: 'Time' }).click();
            await ui.sees(/did not exist|no record/);
          },
        ],
        ['/repositories/axe-work/actions', 'No runs yet'],
        ['/repositories/axe-work/pulls', 'Stations'],
        ['/repositories/axe-work/pulls/create?ref=main&compare=topic', 'new.txt'],
        [`/repositories/axe-work/pulls/${id}`, 'new.txt'],
        ['/repositories/axe-work/compare?ref=main&compare=topic&file=data%2Fstations.csv', '~ 1 row'],
        ['/repositories/axe-work/settings/general', 'local://axe-work'],
        ['/repositories/axe-work/settings/branches', 'Is this branch protected?'],
        ['/repositories/axe-work/settings/retention', 'What is committed is kept for ever'],
        ['/auth/credentials', 'Create access key'],
        ['/auth/sessions', 'this one'],
        ['/auth/users', 'quickstart'],
        ['/auth/users/quickstart/groups', 'Admins'],
        ['/auth/groups', 'Viewers'],
        ['/auth/buckets', 'axe-bucket'],
        ['/auth/buckets/axe-bucket', 'Roll back'],
        ['/auth/webhooks', 'http://127.0.0.1:9/'],
        [`/auth/webhooks/${hook.id}`, 'Nothing is failing'],
        ['/auth/audit', 'createAlias'],
        ['/auth/policies', 'FSReadAll'],
        [
          '/auth/policies/FSReadAll',
          'Try it',
          async () => {
            await ui.button('Ask').click();
            await ui.sees('Looked at:');
            await ui.button('Edit').click();
            await ui.page.getByRole('combobox', { name: 'Actions of statement 1' }).waitFor();
          },
        ],
        [
          '/auth/policies/FSReadAll',
          'allow',
          async () => {
            await ui.button('Cancel').click();
            await ui.button(/Account of/).click();
            await ui.page.getByRole('menuitem', { name: 'Preferences' }).click();
          },
        ],
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
