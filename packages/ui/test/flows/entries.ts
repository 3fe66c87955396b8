import { expect, test } from 'vitest';
import type { Stage } from '../stage.ts';

export function entryFlows(stage: Stage): void {
  test('several entries are chosen, also a range, deleted together and brought back', async () => {
    await stage.repository('bulk', {
      'a.txt': 'a',
      'b.txt': 'b',
      'c.txt': 'c',
      'dir/x.txt': 'x',
      'dir/y.txt': 'y',
      'z.txt': 'z',
    });
    await stage.play(async (ui) => {
      await ui.open('/repositories/bulk/objects');
      await ui.field('Select a.txt').click();
      await ui.field('Select dir/').click({ modifiers: ['Shift'] });
      await ui.sees('4 selected');
      await ui.sees('1 folder, 3 objects, 3 B');
      await ui.field('Select c.txt').click();
      await ui.button('Delete').click();
      await ui.button('Delete', ui.dialog()).click();
      await ui.sees('4 objects deleted');
      await ui.page.locator('.tag.removed').nth(2).waitFor();
      await ui.gone(ui.field('Select a.txt'));
      await ui.button('Undo').click();
      await ui.link('dir/').waitFor();
      await ui.field('Select all that are loaded').click();
      await ui.sees('5 selected');
      await ui.button('Clear the selection').click();
      await ui.lacks('5 selected');
      await ui.open('/repositories/bulk/objects?ref=main&path=dir%2F');
      await ui.field('Select x.txt').click();
      await ui.field('Select y.txt').click();
      await ui.button('Move').click();
      await ui.field('Destination folder').waitFor();
      expect(await ui.page.getByText('It is already there').count()).toBe(0);
    });
    expect(await stage.read('bulk', 'main', 'dir/x.txt')).toBe('x');
  });

  test('objects are renamed, folders moved, and an old version is copied back to a branch', async () => {
    await stage.repository('moving', { 'a.txt': 'old', 'dir/x.txt': 'x', 'dir/deep/y.txt': 'y' });
    await stage.write('moving', 'main', { 'a.txt': 'new' });
    await stage.commit('moving', 'main', 'Replace a');
    await stage.play(async (ui) => {
      const choose = async (entry: string, action: string): Promise<void> => {
        await ui.button(`Actions for ${entry}`).click();
        await ui.page.getByRole('menuitem', { name: action }).click();
      };
      await ui.open('/repositories/moving/objects');
      await choose('a.txt', 'Move or rename');
      await ui.refuses(ui.button('Move', ui.dialog()));
      await ui.field('New path').fill('renamed/b.txt');
      await ui.button('Move', ui.dialog()).click();
      await ui.link('renamed/').waitFor();
      await choose('dir/', 'Move or rename');
      await ui.field('New path').fill('dir/inside');
      await ui.sees('A folder cannot be moved into itself');
      await ui.field('New path').fill('moved');
      await ui.button('Move', ui.dialog()).click();
      await ui.link('moved/').waitFor();
      await ui.open('/repositories/moving/objects?ref=main~1');
      await choose('a.txt', 'Copy to');
      await ui.field('New path').fill('restored.txt');
      await ui.button('Copy', ui.dialog()).click();
      await ui.sees('1 object copied');
    });
    expect(await stage.read('moving', 'main', 'renamed/b.txt')).toBe('new');
    expect(await stage.read('moving', 'main', 'moved/deep/y.txt')).toBe('y');
    expect(await stage.read('moving', 'main', 'restored.txt')).toBe('old');
    for (const gone of ['a.txt', 'dir/x.txt'])
      await expect(stage.read('moving', 'main', gone)).rejects.toThrow(/not found/i);
  });
}

/** Rarely touched. */
export function rareEntryFlows(stage: Stage): void {
  test('the metadata of an object is edited on a branch and compared like its content', async () => {
    await stage.repository('labels', { 'a.txt': 'a' });
    await stage.play(async (ui) => {
      await ui.open('/repositories/labels/object?ref=main&path=a.txt&tab=info');
      await ui.button('Edit metadata').click();
      await ui.button('Add metadata').click();
      await ui.button('Save', ui.dialog()).click();
      await ui.sees('A key is required');
      await ui.field('Metadata key 1').fill('source');
      await ui.field('Metadata value 1').fill('buoy 7');
      await ui.button('Save', ui.dialog()).click();
      await ui.lacks('Metadata of a.txt');
      await ui.sees('buoy 7');
      await ui.open('/repositories/labels/objects?showChanges=true');
      await ui.button('Difference of a.txt').click();
      await ui.page.locator('ins', { hasText: 'buoy 7' }).waitFor();
      await ui.open('/repositories/labels/object?ref=main~0&path=a.txt&tab=info');
      await ui.sees('Stored at');
      expect(await ui.button('Edit metadata').count()).toBe(0);
    });
  });

  test('an old repository in a paid store without rules gets one hint, which is dismissed for good', async () => {
    await stage.repository('hinted', { 'a.txt': 'a' });
    await stage.play(
      async (ui) => {
        await ui.page.route('**/api/v1/config', async (route) => {
          const answer = await route.fetch();
          const config = (await answer.json()) as { storage_config: object };
          await route.fulfill({
            response: answer,
            json: { ...config, storage_config: { ...config.storage_config, blockstore_type: 's3' } },
          });
        });
        await ui.page.route('**/api/v1/repositories/hinted?*', async (route) => {
          const answer = await route.fetch();
          const repository = (await answer.json()) as object;
          await route.fulfill({ response: answer, json: { ...repository, creation_date: 1_700_000_000 } });
        });
        await ui.open('/repositories/hinted/objects');
        await ui.sees('Nothing is ever collected here');
        await ui.button('Dismiss this hint').click();
        await ui.lacks('Nothing is ever collected here');
        await ui.page.reload();
        await ui.link('a.txt').waitFor();
        await ui.lacks('Nothing is ever collected here');
      },
      { alone: true },
    );
  });
}
