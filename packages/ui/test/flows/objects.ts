import { expect, test } from 'vitest';
import type { Stage } from '../stage.ts';

export function objectFlows(stage: Stage): void {
  test('an empty installation offers the sample; repositories are created, found and marked read-only', async () => {
    await stage.play(async (ui) => {
      await ui.open('/repositories');
      await ui.button('Create repository').click();
      await ui.field('Repository name').fill('No Good');
      await ui.sees('Three to 63 of');
      await ui.field('Repository name').fill('made-here');
      expect(await ui.field(/^Storage namespace/).inputValue()).toBe('local://made-here');
      await ui.field(/Add sample data/).check();
      await ui.button('Create repository', ui.dialog()).click();
      await ui.isAt(/\/repositories\/made-here\/objects$/);
      await ui.link('weather.parquet').waitFor();

      await stage.client.post('/repositories', {
        body: { name: 'frozen', storage_namespace: 'local://frozen', read_only: true },
      });
      await ui.open('/repositories');
      await ui.field('Find a repository').fill('froz');
      await ui.isAt(/search=froz/);
      await ui.gone(ui.page.getByRole('row').filter({ hasText: 'made-here' }));
      await ui.sees('Read-only');
      await ui.page.getByRole('table').getByRole('link', { name: 'frozen', exact: true }).click();
      await ui.button('Upload').waitFor();
      await ui.refuses(ui.button('Upload'));
    });
  });

  test('folders are walked, refs are chosen and branches created in the picker', async () => {
    await stage.repository('walk', { 'a/b/c.txt': 'deep', 'top.txt': 'top' });
    await stage.branch('walk', 'other');
    await stage.write('walk', 'other', { 'only-here.txt': 'x' });
    await stage.play(async (ui) => {
      await ui.open('/repositories/walk');
      await ui.link('a/').click();
      await ui.link('b/').click();
      await ui.link('c.txt').click();
      await ui.sees('deep');
      await ui.page.goBack();
      await ui.link('c.txt').waitFor();
      await ui.page.goBack();
      await ui.page.goBack();
      await ui.link('top.txt').waitFor();

      await ui.button('Branch: main').click();
      await ui.page.getByRole('option', { name: 'other' }).click();
      await ui.isAt(/ref=other/);
      await ui.link('only-here.txt').waitFor();
      await ui.button('Branch: other').click();
      await ui.field('Find a branch, tag or commit').fill('made-in-picker');
      await ui.button(/Create branch made-in-picker/).click();
      await ui.isAt(/ref=made-in-picker/);
      await ui.button('Branch: made-in-picker').click();
      await ui.field('Find a branch, tag or commit').fill('main~0');
      await ui.page.keyboard.press('Enter');
      await ui.sees('pinned to');
      await ui.button('Upload to a new branch').waitFor();
      await ui.button('Commit: main~0').click();
      const picker = ui.field('Find a branch, tag or commit');
      await picker.waitFor();
      await ui.page.goBack();
      await ui.isAt(/ref=made-in-picker/);
      await picker.waitFor({ state: 'detached' });
    });
  });

  test('files are uploaded by choosing and by dropping, with their progress, and deleting is undone', async () => {
    await stage.repository('uploads', { 'old.txt': 'old' });
    await stage.play(async (ui) => {
      await ui.open('/repositories/uploads/objects');
      await ui.button('Upload').click();
      await ui.isAt(/upload=true/);
      await ui.field('Destination folder').fill('in');
      await ui.page.keyboard.press('Tab');
      await ui.page
        .locator('input[type=file]')
        .first()
        .setInputFiles([
          { name: 'one.txt', mimeType: 'text/plain', buffer: Buffer.from('1') },
          { name: 'two.txt', mimeType: 'text/plain', buffer: Buffer.alloc(300_000, 50) },
        ]);
      await ui.sees('2 files, 293.0 KB');
      await ui.field('Destination of one.txt').fill('by-hand/first.txt');
      await ui.button('Upload', ui.dialog()).click();
      await ui.link('by-hand/').waitFor();
      await ui.link('in/').waitFor();
      expect(await stage.read('uploads', 'main', 'by-hand/first.txt')).toBe('1');
      expect((await stage.read('uploads', 'main', 'in/two.txt')).length).toBe(300_000);

      const transfer = await ui.page.evaluateHandle(() => {
        const data = new DataTransfer();
        data.items.add(new File(['dropped'], 'dropped.txt', { type: 'text/plain' }));
        return data;
      });
      await ui.page.dispatchEvent('main', 'dragenter', { dataTransfer: transfer });
      await ui.sees('Drop to upload');
      await ui.page.dispatchEvent('main', 'drop', { dataTransfer: transfer });
      await ui.button('Upload', ui.dialog()).click();
      await ui.link('dropped.txt').waitFor();
      expect(await stage.read('uploads', 'main', 'dropped.txt')).toBe('dropped');

      await ui.button('Actions for old.txt').click();
      await ui.page.getByRole('menuitem', { name: 'Delete' }).click();
      await ui.button('Delete', ui.dialog()).click();
      await ui.sees('− Removed');
      await ui.button('Undo').click();
      await ui.link('old.txt').waitFor();
      await ui.sees('Taken back');
      await ui.gone(ui.button('Undo'));
    });
  });

  test('an upload asks before it replaces an object', async () => {
    await stage.repository('replacing', { 'a.txt': 'old' });
    await stage.play(async (ui) => {
      await ui.open('/repositories/replacing/objects?upload=true');
      const files = ['a.txt', 'b.txt'].map((name) => ({
        name,
        mimeType: 'text/plain',
        buffer: Buffer.from('new'),
      }));
      await ui.field('Files').setInputFiles(files);
      await ui.button('Upload', ui.dialog()).click();
      await ui.sees('1 object would be replaced');
      expect(await stage.read('replacing', 'main', 'a.txt')).toBe('old');
      expect(await stage.read('replacing', 'main', 'b.txt')).toBe('new');
      await ui.button('Replace').click();
      await ui.sees('Uploaded 2 files');
      expect(await stage.read('replacing', 'main', 'a.txt')).toBe('new');
    });
  });
}

/** Rarely touched. */
export function rareObjectFlows(stage: Stage, external: string): void {
  test('odd path names hit exactly their objects', async () => {
    const names = ['a b', 'what?#x', '100%2F', 'plus+', 'ünï/🙂.txt', 'q"uote\'s'];
    await stage.repository(
      'odd',
      Object.fromEntries(names.map((name) => [`x/${name}`, `content of ${name}`])),
    );
    await stage.play(async (ui) => {
      for (const name of names) {
        await ui.open('/repositories/odd/objects?ref=main&path=x%2F');
        if (name.includes('/')) await ui.link('ünï/').click();
        await ui.link(name.split('/').at(-1) ?? '').click();
        await ui.page.getByRole('tab', { name: 'Information' }).click();
        await ui.sees(`svc://odd/main/x/${name}`);
      }
    });
  });

  test('a folder of twenty thousand keys scrolls to its end with few rows in the page', async () => {
    await stage.repository('many');
    const total = 20_000;
    const nameOf = (index: number): string => `key-${String(index).padStart(7, '0')}`;
    await stage.play(async (ui) => {
      await ui.page.route('**/refs/main/objects/ls?**', async (route) => {
        const query = new URL(route.request().url()).searchParams;
        const after = query.get('after') ?? '';
        const first = after === '' ? 0 : Number(after.slice(4)) + 1;
        const count = Math.min(Number(query.get('amount')), total - first);
        const results = Array.from({ length: count }, (_, index) => ({
          path: nameOf(first + index),
          path_type: 'object',
          physical_address: 'p',
          checksum: 'c',
          mtime: 1,
          size_bytes: index,
        }));
        const more = first + count < total;
        const next = more ? nameOf(first + count - 1) : '';
        await route.fulfill({
          json: {
            pagination: { has_more: more, next_offset: next, results: count, max_per_page: 1000 },
            results,
          },
        });
      });
      await ui.open('/repositories/many/objects');
      await ui.link(nameOf(0)).waitFor();
      await ui.page.getByRole('table').locator('.scroller').focus();
      await ui.page.keyboard.press('End');
      await ui.link(nameOf(total - 1)).waitFor({ timeout: 60_000 });
      expect(await ui.page.getByRole('row').count()).toBeLessThanOrEqual(60);
      await ui.page.keyboard.press('Home');
      await ui.link(nameOf(0)).waitFor();
      // Back finds the place.
      const scrollTo = async (row: number): Promise<void> =>
        await ui.page.locator('.scroller').evaluate((scroller, top) => {
          scroller.scrollTop = top;
        }, row * 36);
      await scrollTo(9000);
      await ui.link(nameOf(9003)).click();
      await ui.sees('is not on main');
      await ui.page.goBack();
      await ui.link(nameOf(9003)).waitFor();
      expect(await ui.page.locator('.scroller').evaluate(({ scrollTop }) => scrollTop)).toBe(9000 * 36);
      // A jump begins at what it names, however far down one was.
      await ui.field('Jump to names from').fill(nameOf(4999));
      await ui.link(nameOf(5000)).waitFor();
      expect(await ui.page.locator('.scroller').evaluate(({ scrollTop }) => scrollTop)).toBe(0);
    });
  });

  test('data is imported without copying, and the import is found again after a reload', async () => {
    await stage.repository('imports');
    await stage.play(async (ui) => {
      await ui.open('/repositories/imports/objects');
      await ui.button('Import').click();
      await ui.field('Source address').fill(`local://${external}/in/`);
      await ui.field('Destination').fill('taken/');
      await ui.field('Commit message').fill('Take what is there');
      await ui.button('Import', ui.dialog()).click();
      await ui.sees('The import is done');
      await ui.page.reload();
      await ui.sees('The import is done');
      await ui.button('Close').click();
      await ui.link('taken/').click();
      await ui.link('one.txt').click();
      await ui.sees('one');
    });
  });

  test('uploads go on while other pages are shown, pause, and are retried', async () => {
    await stage.repository('tray', { 'a.txt': 'a' });
    await stage.play(async (ui) => {
      await ui.open('/repositories/tray/objects');
      let isDown = true;
      await ui.page.route(/path=slow/, async (route) => {
        // Held until the page gives up.
        if (isDown) await new Promise((resolve) => ui.page.once('requestfailed', resolve));
        else await route.continue();
      });
      await ui.page.route(/path=refused/, (route) =>
        isDown ? route.fulfill({ status: 403, json: { message: 'not now' } }) : route.continue(),
      );
      await ui.button('Upload').click();
      const files = ['slow.txt', 'refused.txt', 'fine.txt'].map((name) => ({
        name,
        mimeType: 'text/plain',
        buffer: Buffer.from(name),
      }));
      await ui.field('Files').setInputFiles(files);
      await ui.button('Upload', ui.dialog()).click();
      const tray = ui.page.getByRole('region', { name: 'Uploads and imports' });
      await tray.getByText('1 of 3 done').waitFor();
      await tray.getByText('not now').waitFor();
      await ui.link('Branches').click();
      await ui.isAt(/\/branches/);
      await ui.button('Pause', tray).click();
      await tray.getByText('Paused: 3 files').waitFor();
      isDown = false;
      await ui.button('Go on', tray).click();
      await tray.getByText('2 of 3 done').waitFor();
      await ui.button('Retry failed', tray).click();
      await ui.gone(tray);
    });
    expect(await stage.read('tray', 'main', 'slow.txt')).toBe('slow.txt');
    expect(await stage.read('tray', 'main', 'refused.txt')).toBe('refused.txt');
  });
}
