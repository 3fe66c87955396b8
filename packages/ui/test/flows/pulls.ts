import { expect, test } from 'vitest';
import type { Stage } from '../stage.ts';

export function pullFlows(stage: Stage): void {
  test('a pull request is opened, edited, merged and found among the closed', async () => {
    await stage.repository('pulling', { 'a.txt': 'a' });
    await stage.branch('pulling', 'topic');
    await stage.write('pulling', 'topic', { 'b.txt': 'b' });
    await stage.commit('pulling', 'topic', 'Work');
    await stage.play(async (ui) => {
      await ui.open('/repositories/pulling/compare?ref=main&compare=topic');
      await ui.button('Create pull request').click();
      await ui.field('Title').fill('Add b');
      await ui.field('Description').fill('Because **b** was missing');
      await ui.button('Create pull request').click();
      await ui.page.getByRole('heading', { name: 'Add b' }).waitFor();
      await ui.page.locator('strong', { hasText: 'b' }).first().waitFor();
      await ui.button('Difference of b.txt').waitFor();
      await ui.button('Edit').click();
      await ui.field('Title').fill('Add the missing b');
      await ui.button('Save').click();
      await ui.page.getByRole('heading', { name: 'Add the missing b' }).waitFor();
      await ui.button('Merge').click();
      await ui.button('Merge', ui.dialog()).click();
      await ui.sees('Merged');
      // What it brought stays to be seen.
      await ui.page.getByRole('region', { name: 'Commits' }).getByRole('link', { name: 'Work' }).waitFor();
      await ui.button('Difference of b.txt').waitFor();
      await ui.link('Pull requests').click();
      await ui.sees('No open pull requests');
      await ui.page.getByRole('tab', { name: 'Closed' }).click();
      await ui.isAt(/status=closed/);
      await ui.link('Add the missing b').waitFor();
    });
    expect(await stage.read('pulling', 'main', 'b.txt')).toBe('b');
  });

  test('a squashed pull request still shows its commits, also when its branch is gone', async () => {
    const repository = 'squashed';
    await stage.repository(repository, { 'a.txt': 'a' });
    await stage.branch(repository, 'topic');
    for (const name of ['first', 'second']) {
      await stage.write(repository, 'topic', { [`${name}.txt`]: name });
      await stage.commit(repository, 'topic', `The ${name} half`);
    }
    const { id } = await stage.client.post('/repositories/{repository}/pulls', {
      params: { path: { repository } },
      body: { title: 'Two halves', source_branch: 'topic', destination_branch: 'main' },
    });
    await stage.play(async (ui) => {
      await ui.open(`/repositories/${repository}/pulls/${id}`);
      await ui.button('Merge').click();
      await ui.field(/Squash/).check();
      await ui.field(/Delete/).check();
      await ui.button('Merge', ui.dialog()).click();
      await ui.page.locator('.notice.good', { hasText: 'Merged' }).waitFor();
      const commits = ui.page.getByRole('region', { name: 'Commits' });
      await commits.getByRole('link', { name: 'The first half' }).waitFor();
      await commits.getByRole('link', { name: 'The second half' }).waitFor();
      expect(await commits.getByRole('link').count()).toBe(2);
    });
  });

  /** dev and main of a repository changed three files in different ways, and dev is proposed to main. */
  async function conflicting(name: string): Promise<string> {
    const files = (text: string) => ({
      'a.txt': `a ${text}\n`,
      'b.txt': `b ${text}\n`,
      'c.txt': `c ${text}\n`,
    });
    await stage.repository(name, files('base'));
    await stage.branch(name, 'dev');
    await stage.write(name, 'dev', files('dev'));
    await stage.commit(name, 'dev', 'Dev');
    await stage.write(name, 'main', files('main'));
    await stage.commit(name, 'main', 'Main');
    const { id } = await stage.client.post('/repositories/{repository}/pulls', {
      params: { path: { repository: name } },
      body: { title: 'Conflicting', source_branch: 'dev', destination_branch: 'main' },
    });
    return `/repositories/${name}/pulls/${id}`;
  }

  test('a pull request merged by a strategy is merged, with its commit', async () => {
    const place = await conflicting('by-strategy');
    await stage.play(async (ui) => {
      await ui.open(place);
      await ui.button('Merge').click();
      await ui.button('Merge', ui.dialog()).click();
      await ui.sees('Nothing was merged');
      await ui.page.getByLabel('Take the version of dev').check();
      await ui.button('Merge', ui.dialog()).click();
      await ui.page.locator('.notice.good', { hasText: 'Merged' }).waitFor();
    });
    expect(await stage.read('by-strategy', 'main', 'a.txt')).toBe('a dev\n');
  });

  test('conflicts of a pull request are settled one by one, also when a branch moves meanwhile', async () => {
    const place = await conflicting('settled');
    await stage.play(async (ui) => {
      await ui.open(place);
      await ui.sees('0 of 3 settled');
      await ui.button('Versions of a.txt').click();
      await ui.page.locator('.cm-deletedChunk, .cm-deletedText, .cm-changedLine').first().waitFor();
      const choices = (path: string) => ui.page.getByRole('radiogroup', { name: `What to take for ${path}` });
      await choices('a.txt').getByLabel('dev').check();
      await choices('c.txt').getByLabel('main').check();
      const choosing = ui.page.waitForEvent('filechooser');
      await ui.button('Upload a replacement for b.txt').click();
      await (
        await choosing
      ).setFiles({ name: 'b.txt', mimeType: 'text/plain', buffer: Buffer.from('b both\n') });
      await ui.sees('3 of 3 settled');
      await ui.button('Preview').click();
      await ui.sees('3 in conflict, 0 not settled');
      await ui.button('Merge as chosen').click();
      await stage.write('settled', 'main', { 'c.txt': 'c again\n' });
      await stage.commit('settled', 'main', 'Again');
      await ui.button('Merge', ui.dialog()).click();
      await ui.sees('The branches moved meanwhile');
      await ui.button('Cancel', ui.dialog()).click();
      await ui.sees('2 of 3 settled');
      await ui.sees('1 choice to look at again');
      await choices('c.txt').getByLabel('main').check();
      await ui.button('Merge as chosen').click();
      await ui.button('Merge', ui.dialog()).click();
      await ui.page.locator('.notice.good', { hasText: 'Merged' }).waitFor();
    });
    expect(await stage.read('settled', 'main', 'a.txt')).toBe('a dev\n');
    expect(await stage.read('settled', 'main', 'b.txt')).toBe('b both\n');
    expect(await stage.read('settled', 'main', 'c.txt')).toBe('c again\n');
  });

  test('conflicts of compared branches are settled many at once', async () => {
    await conflicting('at-once');
    await stage.play(async (ui) => {
      await ui.open('/repositories/at-once/compare?ref=main&compare=dev');
      await ui.field('Filter conflicts').fill('[ab].txt');
      await ui.button('For all: dev').click();
      await ui.sees('2 of 3 settled');
      await ui.sees('[ab].txt: dev');
      await ui.field('Filter conflicts').fill('');
      await ui.page.getByRole('radiogroup', { name: 'What to take for c.txt' }).getByLabel('delete').check();
      await ui.sees('3 of 3 settled');
      await ui.button('Merge as chosen').click();
      await ui.button('Merge', ui.dialog()).click();
      await ui.sees('No differences');
    });
    expect(await stage.read('at-once', 'main', 'b.txt')).toBe('b dev\n');
  });
}
