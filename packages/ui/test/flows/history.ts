import { expect, test } from 'vitest';
import type { Stage } from '../stage.ts';

export function historyFlows(stage: Stage): void {
  test('the log draws its graph, leads to commits and their changes, and follows a path', async () => {
    await stage.repository('logs', { 'a.txt': '1' });
    await stage.branch('logs', 'side');
    await stage.write('logs', 'side', { 'side.txt': 's' });
    await stage.commit('logs', 'side', 'On the side');
    await stage.client.post('/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}', {
      params: { path: { repository: 'logs', sourceRef: 'side', destinationBranch: 'main' } },
      body: { message: 'Bring it in' },
    });
    await stage.client.post('/repositories/{repository}/tags', {
      params: { path: { repository: 'logs' } },
      body: { id: 'v1', ref: 'main' },
    });
    await stage.play(async (ui) => {
      await ui.open('/repositories/logs/commits');
      await ui.link('Bring it in').waitFor();
      await ui.sees('v1');
      expect(await ui.page.locator('svg.graph circle').count()).toBe(4);
      // Four commits, one of them a merge: the first parent of the merge is two rows below it.
      await ui.link('Bring it in').focus();
      expect(await ui.page.locator('svg.graph.faded').count()).toBe(0);
      await ui.page.keyboard.press('ArrowDown');
      await ui.page.locator('svg.graph.faded').waitFor();
      await ui.page.keyboard.press('ArrowUp');
      await ui.page.keyboard.press('ArrowRight');
      await ui.page.locator('a:focus', { hasText: 'Start' }).waitFor();
      await ui.field('Only commits that changed a path').fill('side.txt');
      await ui.isAt(/path=side.txt/);
      await ui.lacks('Repository created');
      await ui.link('On the side').click();
      await ui.page.getByRole('heading', { name: 'On the side' }).waitFor();
      await ui.button('Difference of side.txt').waitFor();
      await ui.button('Actions').click();
      await ui.page.getByRole('menuitem', { name: 'Create branch here' }).click();
      await ui.field('Branch name').fill('from-commit');
      await ui.button('Create branch', ui.dialog()).click();
      await ui.isAt(/ref=from-commit/);
    });
  });

  test('commits are reverted, a merge only after its parent is chosen', async () => {
    await stage.repository('reverts', { 'a.txt': 'good' });
    await stage.write('reverts', 'main', { 'a.txt': 'bad' });
    await stage.commit('reverts', 'main', 'Break it');
    await stage.branch('reverts', 'side');
    await stage.write('reverts', 'side', { 'side.txt': 's' });
    await stage.commit('reverts', 'side', 'Side');
    await stage.client.post('/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}', {
      params: { path: { repository: 'reverts', sourceRef: 'side', destinationBranch: 'main' } },
      body: { message: 'Merge side' },
    });
    await stage.play(async (ui) => {
      await ui.open('/repositories/reverts/commits');
      await ui.button('Revert commits').click();
      expect(await ui.field('Revert Repository created').isDisabled()).toBe(true);
      await ui.field('Revert Break it').check();
      await ui.button('Continue with 1').click();
      await ui.field('Message').fill('Mend it');
      await ui.button('Revert').click();
      await ui.link('Mend it').waitFor();
      await ui.button('Revert commits').click();
      await ui.field('Revert Merge side').check();
      await ui.button('Continue with 1').click();
      await ui.sees('Merge side');
      await ui.page.getByPlaceholder('A merge: choose a parent').waitFor();
      await ui.refuses(ui.button('Revert'));
      await ui.page.getByPlaceholder('A merge: choose a parent').click();
      await ui.page.getByRole('option', { name: /Parent 1/ }).click();
      await ui.button('Revert').click();
      await ui.link(/^Revert commit/).waitFor();
    });
    expect(await stage.read('reverts', 'main', 'a.txt')).toBe('good');
    await expect(stage.read('reverts', 'main', 'side.txt')).rejects.toThrow(/not found/i);
  });

  test('a commit is applied to a chosen branch or taken back, and its conflicts are settled', async () => {
    await stage.repository('picking', { 'a.txt': 'one' });
    await stage.branch('picking', 'release');
    await stage.write('picking', 'release', { 'a.txt': 'released' });
    await stage.commit('picking', 'release', 'Release');
    await stage.write('picking', 'main', { 'a.txt': 'two' });
    const second = await stage.commit('picking', 'main', 'Two');
    await stage.write('picking', 'main', { 'a.txt': 'three' });
    await stage.commit('picking', 'main', 'Three');
    await stage.play(async (ui) => {
      const choices = ui.page.getByRole('radiogroup', { name: 'What to take for a.txt' });
      const act = async (item: string): Promise<void> => {
        await ui.button('Actions').click();
        await ui.page.getByRole('menuitem', { name: item }).click();
      };
      await ui.open(`/repositories/picking/commits/${second}`);
      await act('Cherry-pick onto …');
      await ui.button('Branch: main', ui.dialog()).click();
      await ui.page.getByRole('option', { name: 'release' }).click();
      await ui.button('Apply', ui.dialog()).click();
      await choices.getByLabel(second.slice(0, 12)).check();
      await ui.button('Apply as chosen').click();
      await ui.isAt(/commits\?ref=release/);
      expect(await stage.read('picking', 'release', 'a.txt')).toBe('two');
      await ui.open(`/repositories/picking/commits/${second}`);
      await act('Revert on …');
      await ui.button('Continue', ui.dialog()).click();
      await ui.isAt(/branches\/main\/revert\?commits=/);
      await ui.button('Revert').click();
      await choices.getByLabel(`before ${second.slice(0, 12)}`).check();
      await ui.button('Revert as chosen').click();
      await ui.isAt(/commits\?ref=main/);
    });
    expect(await stage.read('picking', 'main', 'a.txt')).toBe('one');
  });

  test('branches are created, compared and deleted, also several at once', async () => {
    await stage.repository('branching', { 'a.txt': 'a' });
    for (const name of ['one', 'two', 'three']) await stage.branch('branching', name);
    await stage.write('branching', 'three', { 'new.txt': 'new' });
    await stage.client.put('/repositories/{repository}/settings/branch_protection', {
      params: { path: { repository: 'branching' } },
      body: [{ pattern: 'main' }],
    });
    await stage.play(async (ui) => {
      await ui.open('/repositories/branching/branches');
      await ui.link('one').waitFor();
      expect(await ui.field('Select main').count()).toBe(0);
      const row = (name: string) => ui.page.getByRole('row').filter({ has: ui.link(name) });
      await row('three').getByRole('link', { name: '1 uncommitted' }).waitFor();
      await row('main').getByRole('link', { name: 'Protected' }).waitFor();
      expect(
        await row('one')
          .getByText(/Protected|uncommitted/)
          .count(),
      ).toBe(0);
      await ui.button('Create branch').click();
      await ui.field('Branch name').fill('fourth');
      await ui.sees('svcctl branch create svc://branching/fourth --source svc://branching/main');
      await ui.button('Create branch', ui.dialog()).click();
      await ui.isAt(/ref=fourth/);
      await ui.link('Branches').click();
      await ui.field('Select one').check();
      await ui.field('Select two').check();
      await ui.button('Delete 2').click();
      await ui.button('Delete', ui.dialog()).click();
      await ui.gone(ui.link('two'));
      await ui.field('Find branches by a part of their name').fill('hre');
      await ui.isAt(/prefix=hre/);
      await ui.link('three').waitFor();
      await ui.gone(ui.link('fourth'));
    });
  });

  test('tags are created and deleted', async () => {
    await stage.repository('tagging', { 'a.txt': 'a' });
    await stage.play(async (ui) => {
      await ui.open('/repositories/tagging/tags');
      await ui.sees('No tags yet');
      await ui.button('Create tag').first().click();
      await ui.field('Tag name').fill('v1.0');
      await ui.button('Create tag', ui.dialog()).click();
      await ui.link('v1.0').click();
      await ui.button('Tag: v1.0').waitFor();
      await ui.link('a.txt').waitFor();
      await ui.link('Tags').click();
      await ui.button('Delete v1.0').click();
      await ui.button('Delete', ui.dialog()).click();
      await ui.sees('No tags yet');
    });
  });
}
