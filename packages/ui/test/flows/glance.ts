import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import type { Stage } from '../stage.ts';

/** What pages tell without being asked: who may do what, what changed last, how far branches went apart. */
export function glanceFlows(stage: Stage): void {
  test('who may only read sees what they may not do, and why', async () => {
    await stage.repository('looked-at', { 'a.txt': 'a' });
    await stage.write('looked-at', 'main', { 'b.txt': 'b' });
    await stage.client.post('/auth/users', { body: { id: 'onlooker' } });
    await stage.client.put('/auth/groups/{groupId}/members/{userId}', {
      params: { path: { groupId: 'Viewers', userId: 'onlooker' } },
    });
    const own = await stage.client.post('/auth/users/{userId}/credentials', {
      params: { path: { userId: 'onlooker' } },
    });
    await stage.play(
      async (ui) => {
        const { access_key_id, secret_access_key } = own;
        await ui.context.request.post('/api/v1/auth/login', { data: { access_key_id, secret_access_key } });
        await ui.open('/repositories/looked-at/objects');
        await ui.refuses(ui.button('Upload'));
        await ui.refuses(ui.button('Import'));
        await ui.refuses(ui.button('Commit'));
        await ui.button('Upload').hover();
        await ui.page.getByRole('tooltip', { name: /your account lacks fs:WriteObject/ }).waitFor();
        await ui.button('Actions for a.txt').click();
        await ui.page.getByRole('menuitem', { name: 'Copy URI' }).waitFor();
        expect(await ui.page.getByRole('menuitem', { name: 'Delete' }).count()).toBe(0);
        await ui.page.keyboard.press('Escape');
        await ui.link('Branches').click();
        await ui.refuses(ui.button('Create branch'));
        await ui.link('Settings').click();
        await ui.refuses(ui.button('Delete repository'));
        await ui.open('/repositories/looked-at/settings/branches');
        await ui.sees('your account lacks branches:SetBranchProtectionRules');
        await ui.open('/repositories');
        await ui.refuses(ui.button('Create repository'));
        await ui.open('/auth/credentials');
        await ui.button('Create access key').waitFor();
        await ui.open('/auth/webhooks');
        await ui.refuses(ui.button('Create webhook'));
        await ui.button('Create webhook').hover();
        await ui.page.getByRole('tooltip', { name: /your account lacks fs:WriteSubscription/ }).waitFor();
      },
      { loggedIn: false },
    );
  });

  test('a protected branch is marked, and uploads go to a new branch', async () => {
    await stage.repository('guarded', { 'a.txt': 'a' });
    await stage.client.put('/repositories/{repository}/settings/branch_protection', {
      params: { path: { repository: 'guarded' } },
      body: [{ pattern: 'main' }],
    });
    await stage.play(async (ui) => {
      await ui.open('/repositories/guarded/objects');
      await ui.link('Protected').waitFor();
      await ui.refuses(ui.button('Import'));
      await ui.button('Upload to a new branch').click();
      await ui.field('Branch name').fill('mine');
      await ui.button('Create branch', ui.dialog()).click();
      await ui.isAt(/ref=mine/);
      await ui.page.getByRole('dialog', { name: 'Upload to mine' }).waitFor();
      await ui
        .field('Files')
        .setInputFiles([{ name: 'new.txt', mimeType: 'text/plain', buffer: Buffer.from('new') }]);
      await ui.button('Upload', ui.dialog()).click();
      await ui.link('new.txt').waitFor();
    });
    expect(await stage.read('guarded', 'mine', 'new.txt')).toBe('new');
  });

  test('folders show what changed last, are filtered, and are downloaded whole or in part', async () => {
    await stage.repository('dated', { 'old/x.txt': 'x', 'plain.txt': 'p' });
    await stage.write('dated', 'main', { 'old/y.txt': 'y' });
    await stage.commit('dated', 'main', 'Add y');
    await stage.write('dated', 'main', { 'fresh/z.txt': 'z', 'old/z.txt': 'z' });
    await stage.play(async (ui) => {
      await ui.open('/repositories/dated/objects');
      const row = (name: string) => ui.page.getByRole('row').filter({ hasText: name });
      await row('old/').getByRole('link', { name: 'Add y' }).waitFor();
      await row('plain.txt').getByRole('link', { name: 'Start' }).waitFor();
      await row('old/').locator('time').waitFor();
      await row('old/').getByText('Changed').waitFor();
      await row('fresh/').getByText('Added').waitFor();
      await ui.field('Filter by a part of the name').fill('LAI');
      await ui.gone(ui.link('old/'));
      await ui.link('plain.txt').waitFor();
      await ui.field('Filter by a part of the name').fill('nothing');
      await ui.sees('No name here contains “nothing”');
      await ui.button('Clear filter').click();
      await ui.link('old/').waitFor();
      const whole = ui.page.waitForEvent('download');
      await ui.link('Download this folder').click();
      expect((await whole).suggestedFilename()).toBe('dated.zip');
      await ui.field('Select old/').check();
      await ui.field('Select plain.txt').check();
      const some = ui.page.waitForEvent('download');
      await ui.link('Download').click();
      const path = await (await some).path();
      const names = execFileSync('python3', [
        '-c',
        'import sys,zipfile\nprint(",".join(zipfile.ZipFile(sys.argv[1]).namelist()))',
        path,
      ]);
      expect(names.toString().trim()).toBe('old/x.txt,old/y.txt,old/z.txt,plain.txt');
      await stage.write('dated', 'main', { 'plain.txt': 'other' });
      await stage.commit('dated', 'main', 'Change plain');
      await ui.open('/repositories/dated/object?ref=main&path=plain.txt&tab=history');
      await ui.link('compare with now').last().click();
      await ui.page.locator('.diff-body', { hasText: 'other' }).waitFor();
    });
  });

  test('branches say how far they are from the default one, repositories what happened last', async () => {
    await stage.sample('quickstart');
    await stage.repository('apart', { 'a.txt': 'a' });
    await stage.branch('apart', 'topic');
    await stage.write('apart', 'topic', { 'b.txt': 'b' });
    await stage.commit('apart', 'topic', 'On topic');
    await stage.write('apart', 'main', { 'c.txt': 'c' });
    await stage.commit('apart', 'main', 'Last on main');
    await stage.client.post('/repositories/{repository}/metadata', {
      params: { path: { repository: 'apart' } },
      body: { metadata: { description: 'Two ways' } },
    });
    await stage.play(
      async (ui) => {
        await ui.open('/repositories/apart/branches');
        await ui.link('1 ahead of main, 1 behind').click();
        await ui.isAt(/compare\?ref=main&compare=topic/);
        await ui.open('/repositories?search=apart');
        const row = ui.page.getByRole('row').filter({ hasText: 'apart' });
        await row.getByText('Two ways').waitFor();
        await row.getByRole('link', { name: 'Last on main' }).waitFor();
        await stage.repository('apart-later', { 'a.txt': 'a' });
        await ui.field('Order').selectOption('changed');
        await ui.isAt(/sort=changed/);
        await ui.page.locator('.title-link', { hasText: 'apart-later' }).waitFor();
        const names = await ui.page.locator('.title-link').allTextContents();
        expect(names).toEqual(['apart-later', 'apart']);
        // On a phone the repositories come first, and are there.
        await ui.page.setViewportSize({ width: 390, height: 844 });
        await ui.page.locator('.title-link', { hasText: 'apart-later' }).click({ trial: true });
        await ui.page.setViewportSize({ width: 1280, height: 800 });
        const region = (name: string) => ui.page.getByRole('region', { name, exact: true });
        await region('Recent repositories').getByRole('link', { name: 'apart' }).waitFor();
        await region('Activity').getByRole('listitem').first().waitFor();
        await ui.field('Done: Create a branch').check();
        await ui.sees('1 of 6');
        await ui.button('End the tour').click();
        await ui.gone(region('First steps'));
      },
      { alone: true },
    );
  });
}
