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
      await ui.link('Pull requests').click();
      await ui.sees('No open pull requests');
      await ui.page.getByRole('tab', { name: 'Closed' }).click();
      await ui.isAt(/status=closed/);
      await ui.link('Add the missing b').waitFor();
    });
    expect(await stage.read('pulling', 'main', 'b.txt')).toBe('b');
  });
}
