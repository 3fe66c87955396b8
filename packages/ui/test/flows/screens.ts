import { waitUntil } from '@svc/testing';
import { expect, test } from 'vitest';
import { look } from '../look-at-screens.ts';
import type { Stage, TestPage } from '../stage.ts';

/** Every screen. */
export function screenFlows(stage: Stage): void {
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
  });

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
  });

  test('dialogs, conflicts, runs and dead ends meet WCAG 2.2 AA in both themes and fit a phone', async () => {
    const repo = 'axe-rest';
    const hook = `name: looks\non: {post-commit: }\nhooks: [{id: looks, type: lua, properties: {script: 'print("seen")'}}]\n`;
    await stage.repository(repo, {
      'a.txt': 'a base\n',
      'map.geojson': geojson,
      '_svc_actions/looks.yaml': hook,
    });
    await stage.branch(repo, 'dev');
    await stage.write(repo, 'dev', { 'a.txt': 'a dev\n' });
    await stage.commit(repo, 'dev', 'Change a on dev');
    await stage.write(repo, 'main', { 'a.txt': 'a main\n' });
    const last = await stage.commit(repo, 'main', 'Change a on main');
    await stage.write(repo, 'dev', { 'more.txt': 'more' });
    await stage.repository('axe-empty');
    // The hook runs after its commit was answered.
    const run = await waitUntil(async () => {
      const { results } = await stage.client.get('/repositories/{repository}/actions/runs', {
        params: { path: { repository: repo } },
      });
      return results[0];
    });
    const opens =
      (name: string | RegExp, shows: string | RegExp) =>
      async (ui: TestPage): Promise<void> => {
        await ui.button(name).first().click();
        await ui.dialog().getByText(shows).first().waitFor();
      };
    const at = `/repositories/${repo}`;
    await stage.play(async (ui) => {
      const problems = await look(ui, [
        ['/repositories', repo, opens('Create repository', 'Storage namespace')],
        [`${at}/objects?ref=dev`, 'more.txt', opens(/^Commit/, '1 change')],
        [
          `${at}/object?ref=main&path=a.txt`,
          'a main',
          async () => {
            await ui.button('Change').click();
            await ui.page.getByRole('menuitem', { name: 'Edit' }).click();
            await ui.dialog().waitFor();
          },
        ],
        [`${at}/object?ref=main&path=a.txt&tab=history`, 'Change a on main'],
        [`${at}/object?ref=main&path=map.geojson`, 'map.geojson'],
        [`${at}/commits?ref=dev&graph=1`, 'Change a on dev'],
        [`${at}/commits/${last}`, 'Change a on main'],
        [`${at}/branches`, 'Change a on dev', opens('Create branch', 'Branch name')],
        [`${at}/tags`, 'No tags yet', opens('Create tag', 'Tag name')],
        [
          `${at}/compare?ref=main&compare=dev`,
          '0 of 1 settled',
          async () => {
            await ui.button('Versions of a.txt').click();
            await ui.page.locator('.cm-deletedChunk, .cm-deletedText, .cm-changedLine').first().waitFor();
          },
        ],
        [`${at}/branches/main/revert?commits=${last}`, 'Change a on main'],
        [`${at}/compare?ref=main&compare=dev&file=a.txt`, '0 of 1 settled', opens('Merge', 'Squash')],
        [
          `${at}/actions`,
          'Actions',
          async () =>
            await ui
              .link(/post-commit/)
              .first()
              .waitFor(),
        ],
        [`${at}/actions/${run.run_id}`, 'looks'],
        [`${at}/activity`, 'main'],
        ['/activity', repo],
        [`${at}/objects?ref=nowhere`, /nowhere/],
        [`${at}/object?ref=main&path=nowhere.txt`, /nowhere\.txt/],
        ['/repositories/axe-empty/objects', 'No data here yet'],
        ['/repositories/axe-none/objects', 'There is no repository axe-none'],
        ['/repositories/axe-empty/pulls', 'No open pull requests'],
        ['/repositories/axe-empty/compare', 'main'],
        ['/repositories/axe-empty/history', 'main'],
        ['/auth/users', 'quickstart', opens('Create user', 'User name')],
        ['/auth/users/quickstart/policies', 'None yet'],
        ['/auth/users/quickstart/policies/effective', 'AuthFullAccess'],
        ['/auth/users/quickstart/credentials', 'Create access key'],
        ['/auth/users/quickstart/sessions', /End|session/],
        ['/auth/groups', 'Viewers', opens('Create group', 'Group name')],
        ['/auth/groups/Viewers/members', 'Add user', opens('Add user', 'Name of the user')],
        ['/auth/groups/Viewers/policies', 'FSReadAll'],
        ['/auth/buckets', 'Create bucket', opens('Create bucket', 'Repository')],
        ['/auth/webhooks', 'Create webhook', opens('Create webhook', 'Address')],
        ['/auth/credentials', 'Create access key', opens('Create access key', 'Create')],
        ['/auth/cli?login=unknown', /svcctl/],
        [
          `${at}/objects`,
          'a.txt',
          async () => {
            await ui.page.keyboard.press('ControlOrMeta+k');
            await ui.field('Search or run a command').last().fill('a');
            await ui.page.getByRole('option').first().waitFor();
          },
        ],
      ]);
      expect(problems).toEqual([]);
    });
  });
}

const geojson = JSON.stringify({
  type: 'Feature',
  properties: { name: 'Triangle' },
  geometry: {
    type: 'Polygon',
    coordinates: [
      [
        [8, 47],
        [9, 47],
        [9, 48],
        [8, 47],
      ],
    ],
  },
});
