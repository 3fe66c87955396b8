import { expect, test } from 'vitest';
import type { Stage } from '../stage.ts';

export function changeFlows(stage: Stage): void {
  test('uncommitted changes are shown in the listing and as a difference, and are taken back', async () => {
    await stage.repository('undo', { 'keep.txt': 'one\ntwo\n', 'gone.txt': 'x' });
    await stage.write('undo', 'main', { 'keep.txt': 'one\n2\n', 'new/a.txt': 'a' });
    await stage.client.delete('/repositories/{repository}/branches/{branch}/objects', {
      params: { path: { repository: 'undo', branch: 'main' }, query: { path: 'gone.txt' } },
    });
    await stage.play(async (ui) => {
      await ui.open('/repositories/undo/objects');
      await ui.sees('− Removed');
      const removed = ui.page.getByRole('row').filter({ hasText: 'gone.txt' });
      expect(await removed.getByText('0 B').count()).toBe(0);
      await ui.button('Uncommitted (3)').click();
      await ui.isAt(/showChanges=true/);
      await ui.button('Difference of keep.txt').click();
      await ui.page.locator('.cm-deletedChunk, .cm-deletedText').first().waitFor();
      await ui.button('Undo the change of gone.txt').click();
      await ui.button('Undo', ui.dialog()).click();
      await ui.gone(ui.button('Undo the change of gone.txt'));
      await ui.button('Undo all changes').click();
      await ui.button('Undo', ui.dialog()).click();
      await ui.lacks('keep.txt');
    });
    expect(await stage.read('undo', 'main', 'keep.txt')).toBe('one\ntwo\n');
    expect(await stage.read('undo', 'main', 'gone.txt')).toBe('x');
  });

  test('a commit takes a message and metadata and refuses bad keys before sending anything', async () => {
    await stage.repository('committing');
    await stage.write('committing', 'main', { 'a.txt': 'a' });
    await stage.play(async (ui) => {
      await ui.open('/repositories/committing/objects');
      await ui.button('Commit').click();
      await ui.field('Message').fill('Add a');
      await ui.button('Add metadata').click();
      await ui.field('Metadata value 1').fill('no key');
      await ui.button('Commit', ui.dialog()).click();
      await ui.sees('A key is required');
      await ui.field('Metadata key 1').fill('ticket');
      await ui.button('Add metadata').click();
      await ui.field('Metadata key 2').fill('ticket ');
      await ui.sees('This key is already used');
      await ui.button('Remove metadata 2').click();
      await ui.dialog().getByText('Ctrl Enter').waitFor();
      await ui.field('Metadata key 1').press('Control+Enter');
      await ui.gone(ui.button('Commit'));
    });
    const commit = await stage.client.get('/repositories/{repository}/commits/{commitId}', {
      params: { path: { repository: 'committing', commitId: 'main' } },
    });
    expect(commit).toMatchObject({ message: 'Add a', metadata: { ticket: 'no key' } });
  });

  test('branches are compared, the open file is in the address, and the difference is merged', async () => {
    await stage.repository('merging', { 'a.txt': 'one\n' });
    await stage.branch('merging', 'topic');
    await stage.write('merging', 'topic', { 'a.txt': 'two\n', 'deep/b.txt': 'b', 'c.txt': 'c' });
    await stage.commit('merging', 'topic', 'Work');
    await stage.play(async (ui) => {
      await ui.open('/repositories/merging/compare?ref=main&compare=main');
      await ui.sees('Choose two different refs');
      await ui.button('Head branch: main').click();
      await ui.page.getByRole('option', { name: 'topic' }).click();
      await ui.sees('3 changes: 2 added, 1 changed');
      await ui.button('Difference of a.txt').click();
      await ui.isAt(/file=a.txt/);
      await ui.page.locator('.cm-changedLine, .cm-insertedLine').first().waitFor();
      await ui.page.reload();
      await ui.page.locator('.cm-changedLine, .cm-insertedLine').first().waitFor();
      await ui.button('Merge').click();
      await ui.field('Message').fill('Merge the topic');
      await ui.button('Merge', ui.dialog()).click();
      await ui.sees('No differences');
      await ui.refuses(ui.button('Merge'));
    });
    expect(await stage.read('merging', 'main', 'deep/b.txt')).toBe('b');
  });

  test('several differences are open at once, marked as viewed, and listed beside', async () => {
    const files = (text: string) =>
      Object.fromEntries(
        ['a.txt', 'b.txt', 'deep/c.txt', 'deep/d.txt', 'deep/e.txt'].map((path) => [path, text + path]),
      );
    await stage.repository('several', files('old '));
    await stage.branch('several', 'next');
    await stage.write('several', 'next', files('new '));
    await stage.commit('several', 'next', 'Rewrite');
    await stage.play(
      async (ui) => {
        await ui.open('/repositories/several/compare?ref=main&compare=next');
        await ui.button('Difference of a.txt').click();
        await ui.isAt(/file=a\.txt/);
        await ui.button('Difference of b.txt').click();
        await ui.isAt(/file=b\.txt/);
        const bodies = ui.page.locator('.diff-body');
        await bodies.nth(1).waitFor();
        expect(await bodies.count()).toBe(2);
        await ui.field('Viewed a.txt').check();
        await ui.sees('1 viewed');
        expect(await bodies.count()).toBe(1);
        await ui.page.getByRole('navigation', { name: 'Changed files' }).getByText('d.txt').click();
        await ui.isAt(/file=deep%2Fd\.txt/);
        await ui.page.locator('.cm-content', { hasText: 'new deep/d.txt' }).first().waitFor();
        await ui.button('Expand all').click();
        await bodies.nth(3).waitFor();
        // What was viewed stays closed, until it changes.
        expect(await bodies.count()).toBe(4);
        await stage.write('several', 'next', { 'a.txt': 'new again' });
        await stage.commit('several', 'next', 'Again');
        await ui.page.reload();
        await ui.button('Difference of a.txt').waitFor();
        expect(await ui.field('Viewed a.txt').isChecked()).toBe(false);
      },
      { alone: true },
    );
  });

  test('data files are compared by rows and columns, images over each other', async () => {
    const sample = await stage.sample('versions');
    await stage.branch('versions', 'next');
    await stage.write('versions', 'next', {
      'data/stations.csv': sample.stations.replace('North Ridge', 'South Ridge').replace(/\nH02.*/, ''),
    });
    const picture = await stage.bytes('versions', 'main', 'images/temperature.png');
    await stage.client.objects.upload({
      repository: 'versions',
      branch: 'next',
      path: 'images/temperature.png',
      // Bytes after the end of an image are ignored, so it is another object that still shows.
      body: new Uint8Array([...picture, 0]),
    });
    await stage.play(async (ui) => {
      await ui.open('/repositories/versions/object?ref=next&path=weather.parquet&tab=sql');
      await ui.sees(/rows in/);
      const source = "READ_PARQUET('svc://versions/main/weather.parquet')";
      await ui.page
        .locator('.cm-content')
        .fill(
          `COPY (SELECT *, 1 AS added FROM ${source} LIMIT 2000) TO 'svc://versions/next/weather.parquet'`,
        );
      await ui.page.locator('.cm-content').press('ControlOrMeta+Enter');
      await ui.sees('Written: svc://versions/next/weather.parquet');
      await ui.open('/repositories/versions/objects?ref=next&showChanges=true');
      await ui.button('Difference of data/stations.csv').click();
      await ui.sees('~ 1 row');
      await ui.sees('− 1 row');
      await ui.page.locator('td.changed del', { hasText: 'North Ridge' }).waitFor();
      await ui.page.getByText('Unified', { exact: true }).click();
      await ui.page.locator('.cm-deletedChunk, .cm-deletedText').first().waitFor();
      await ui.button('Difference of weather.parquet').click();
      await ui.sees('+ column added');
      await ui.button('Difference of images/temperature.png').click();
      await ui.page.getByText('Difference', { exact: true }).click();
      await ui.sees('Black is the same');
      await ui.page.getByText('Swipe', { exact: true }).click();
      const slider = ui.page.getByRole('slider');
      await slider.press('Home');
      await ui.page.locator('.image-stack img[style*="inset(0px 0px 0px 0%)"]').waitFor();
    });
  });

  test('a conflicting merge names the paths and a strategy settles it', async () => {
    await stage.repository('conflict', { 'a.txt': 'base' });
    await stage.branch('conflict', 'topic');
    await stage.write('conflict', 'topic', { 'a.txt': 'theirs' });
    await stage.commit('conflict', 'topic', 'Theirs');
    await stage.write('conflict', 'main', { 'a.txt': 'ours' });
    await stage.commit('conflict', 'main', 'Ours');
    await stage.play(async (ui) => {
      await ui.open('/repositories/conflict/compare?ref=main&compare=topic');
      await ui.sees('! Conflict');
      await ui.button('Merge').click();
      await ui.button('Merge', ui.dialog()).click();
      await ui.sees('1 conflict not settled');
      await ui.dialog().getByRole('listitem').filter({ hasText: 'a.txt' }).waitFor();
      expect(await ui.page.getByText('undefined').count()).toBe(0);
      await ui.field('Take the version of topic').check();
      await ui.button('Merge', ui.dialog()).click();
      await ui.sees('No differences');
    });
    expect(await stage.read('conflict', 'main', 'a.txt')).toBe('theirs');
  });
}
