import { waitUntil } from '@svc/testing';
import { expect, test } from 'vitest';
import type { Stage } from '../stage.ts';

export function timeFlows(stage: Stage): void {
  test('a branch is browsed as of a time: the commit is shown first, nothing can be written, the way back is there', async () => {
    await stage.repository('then', { 'a.txt': 'old' });
    const before = new Date(Math.ceil(Date.now() / 1000) * 1000);
    await waitUntil(() => Date.now() > before.getTime());
    await stage.write('then', 'main', { 'a.txt': 'new', 'b.txt': 'later' });
    await stage.commit('then', 'main', 'Change it');
    const local = new Date(before.getTime() - before.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
    await stage.play(async (ui) => {
      await ui.open('/repositories/then/objects');
      await ui.link('b.txt').waitFor();
      await ui.button('Branch: main').click();
      await ui.page.getByRole('tab', { name: 'Time' }).click();
      await ui.button('A week ago').click();
      await ui.sees(/main did not exist at|no record of branch main before/);
      await ui.refuses(ui.button('Browse as of then'));
      await ui.field(/^main as of/).fill(local);
      await ui.sees(/Start · /);
      await ui.button('Browse as of then').click();
      await ui.isAt(/ref=main%40%7B20/);
      await ui.sees('Back to now');
      await ui.gone(ui.link('b.txt'));
      await ui.button('Upload to a new branch').waitFor();
      await ui.link('a.txt').click();
      await ui.sees('old');
      await ui.link('Commits').click();
      await ui.link('Start').waitFor();
      await ui.lacks('Change it');
      await ui.button('Create branch here').click();
      await ui.field('Branch name').fill('from-then');
      await ui.button('Create branch', ui.dialog()).click();
      await ui.isAt(/ref=from-then/);
      // A time that moves is pinned to the instant it means.
      await ui.open('/repositories/then/objects?ref=main%40%7B1%7D');
      await ui.isAt(/ref=main%40%7B20/);
      await ui.button('Back to now').click();
      await ui.link('b.txt').waitFor();
    });
    expect(await stage.read('then', 'from-then', 'a.txt')).toBe('old');
  });

  test('deleted branches, tags and repositories come back, also by undo and under another name', async () => {
    await stage.repository('graves', { 'a.txt': 'a' });
    await stage.branch('graves', 'lost');
    await stage.play(async (ui) => {
      await ui.open('/repositories/graves/branches');
      await ui.button('Delete lost').click();
      await ui.button('Delete', ui.dialog()).click();
      await ui.button('Undo').click();
      await ui.link('lost').waitFor();
      await ui.button('Delete lost').click();
      await ui.button('Delete', ui.dialog()).click();
      await ui.gone(ui.link('lost'));
      await ui.page.getByRole('tab', { name: 'Deleted' }).click();
      await ui.isAt(/tab=deleted/);
      await ui.sees('quickstart');
      await ui.button('Restore lost').click();
      await ui.field('Name').fill('main');
      await ui.button('Restore', ui.dialog()).click();
      await ui.sees('This conflicts with what is there');
      await ui.field('Name').fill('found');
      await ui.button('Restore', ui.dialog()).click();
      await ui.sees('Branch found is back');
      await ui.open('/repositories/graves/settings/general');
      await ui.button('Delete repository').click();
      await ui.field('Type graves to confirm').fill('graves');
      await ui.button('Delete repository', ui.dialog()).click();
      await ui.isAt(/\/repositories$/);
      await ui.page.getByRole('tab', { name: 'Deleted' }).click();
      await ui.button('Restore graves').waitFor();
      await stage.client.post('/repositories', {
        body: { name: 'graves', storage_namespace: 'local://graves-anew' },
      });
      await ui.button('Restore graves').click();
      await ui.sees('This conflicts with what is there');
      await stage.client.delete('/repositories/{repository}', {
        params: { path: { repository: 'graves' }, query: { purge: true } },
      });
      await ui.button('Restore graves').click();
      await ui.isAt(/\/repositories\/graves\/objects/);
      await ui.link('a.txt').waitFor();
    });
    expect(await stage.read('graves', 'found', 'a.txt')).toBe('a');
  });

  test('the history of a branch says what moved it, and rolls it back after showing what changes', async () => {
    await stage.repository('moved', { 'a.txt': 'good' });
    await stage.write('moved', 'main', { 'a.txt': 'bad' });
    await stage.commit('moved', 'main', 'Break it');
    await stage.play(async (ui) => {
      await ui.open('/repositories/moved/branches');
      await ui.button('History of main').click();
      await ui.isAt(/history\?ref=main/);
      await ui.button('Actions of commit of main').first().click();
      await ui.page.getByRole('menuitem', { name: 'Roll back to before this' }).click();
      await ui.button('Difference of a.txt').waitFor();
      await ui.sees('1 change: 1 changed');
      await ui.button('Roll back', ui.dialog()).click();
      await ui.sees(/main is rolled back/);
      await ui.button('Actions of rollback of main').waitFor();
      expect(await stage.read('moved', 'main', 'a.txt')).toBe('good');
      // Moving the head itself asks for the name of the branch.
      await ui.button('Actions of commit of main').first().click();
      await ui.page.getByRole('menuitem', { name: 'Roll back to here' }).click();
      await ui.page.getByText('Move the head').click();
      await ui.refuses(ui.button('Roll back', ui.dialog()));
      await ui.field('Type main to confirm').fill('main');
      await ui.button('Roll back', ui.dialog()).click();
      await ui.gone(ui.dialog());
      expect(await stage.read('moved', 'main', 'a.txt')).toBe('bad');
    });
  });
}
