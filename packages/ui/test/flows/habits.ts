import { expect, test } from 'vitest';
import type { Stage } from '../stage.ts';

export function habitFlows(stage: Stage): void {
  test('the palette and single keys go everywhere without a mouse', async () => {
    await stage.repository('keyboard', { 'folder/a.txt': 'a', 'z.txt': 'z' });
    await stage.branch('keyboard', 'topic');
    await stage.play(async (ui) => {
      const { keyboard } = ui.page;
      await ui.open('/repositories');
      await ui.link('keyboard').first().waitFor();
      await keyboard.press('ControlOrMeta+k');
      await ui.field('Search or run a command').last().fill('keyboard');
      const found = ui.page.locator('.mantine-Spotlight-action', { hasText: 'local://keyboard' });
      await found.waitFor();
      // Answers arrive during typing and may move the selection: go to the right one.
      while ((await found.getAttribute('data-selected')) === null) await keyboard.press('ArrowDown');
      const option = ui.page
        .getByRole('listbox', { name: 'Results' })
        .getByRole('option', { selected: true });
      await option.filter({ hasText: 'local://keyboard' }).waitFor();
      const active = await ui.field('Search or run a command').last().getAttribute('aria-activedescendant');
      expect(await option.getAttribute('id')).toBe(active);
      await keyboard.press('Enter');
      await ui.isAt(/\/repositories\/keyboard\/objects/);
      await ui.link('folder/').waitFor();
      await keyboard.press('ControlOrMeta+k');
      await ui.field('Search or run a command').last().fill('a.tx');
      await ui.page.getByRole('option', { name: 'folder/a.txt' }).click();
      await ui.isAt(/\/object\?ref=main&path=folder%2Fa\.txt/);
      await ui.open('/repositories/keyboard/objects');
      await ui.link('folder/').waitFor();
      await keyboard.press('y');
      await ui.isAt(/objects\?ref=[0-9a-f]{64}$/);
      await ui.open('/repositories/keyboard/objects');
      await ui.link('folder/').waitFor();
      await keyboard.press('j');
      await keyboard.press('Enter');
      await ui.isAt(/path=folder%2F/);
      await ui.link('a.txt').waitFor();
      await ui.page.locator('main:focus').waitFor();
      await keyboard.press('u');
      await ui.link('z.txt').waitFor();
      await keyboard.press('y');
      await ui.isAt(/ref=[0-9a-f]{64}/);
      await keyboard.press('g');
      await keyboard.press('d');
      await ui.isAt(/\/compare/);
      await keyboard.press('g');
      await keyboard.press('b');
      await ui.isAt(/\/branches$/);
      await ui.link('topic').waitFor();
      await keyboard.press('/');
      await keyboard.type('to');
      await ui.isAt(/prefix=to/);
      await keyboard.press('Tab');
      await keyboard.press('?');
      await ui.page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor();
      await keyboard.press('Escape');
    });
  });

  test('the theme follows the system, is switched, and the first frame has it', async () => {
    await stage.play(
      async (ui) => {
        await ui.page.emulateMedia({ colorScheme: 'dark' });
        await ui.page.goto('/repositories', { waitUntil: 'commit' });
        const scheme = (): Promise<string | null> =>
          ui.page.evaluate(() => document.documentElement.getAttribute('data-mantine-color-scheme'));
        /** Of the page below its content, and of the content. */
        const colours = (): Promise<string[]> =>
          ui.page.evaluate(() =>
            [document.documentElement, document.body].map((part) => getComputedStyle(part).backgroundColor),
          );
        const dark = 'rgb(18, 24, 29)';
        const light = 'rgb(255, 255, 255)';
        await ui.page.waitForSelector('#root', { state: 'attached' });
        expect(await scheme()).toBe('dark');
        await ui.page.getByRole('heading', { name: 'Repositories' }).waitFor();
        expect(await colours()).toEqual([dark, dark]);
        await ui.button('Theme').click();
        await ui.page.getByRole('menuitem', { name: 'Light' }).click();
        await ui.page.waitForSelector('html[data-mantine-color-scheme=light]');
        expect(await colours()).toEqual([light, light]);
        await ui.page.reload();
        expect(await scheme()).toBe('light');
      },
      { alone: true },
    );
  });

  test('a page that is first visited while the server is down is shown once it is back', async () => {
    await stage.repository('outage', { 'a.txt': 'a' });
    await stage.play(
      async (ui) => {
        await ui.open('/repositories/outage/objects');
        await ui.link('a.txt').waitFor();
        await ui.page.route(/\/(assets|api|_health)/, (route) => route.abort());
        await ui.link('Commits').click();
        await ui.sees('The server cannot be reached');
        await ui.isAt(/\/commits/);
        await ui.page.unrouteAll();
        await ui.page.getByRole('heading', { name: 'Commits' }).waitFor();
      },
      { alone: true },
    );
  });

  test('unknown pages, refs and objects say so and offer a way on', async () => {
    await stage.repository('lost', { 'a.txt': 'a' });
    await stage.play(async (ui) => {
      await ui.open('/no/such/page');
      await ui.sees('There is no page at this address');
      await ui.open('/repositories/lost/objects?ref=nothing');
      await ui.sees('There is no branch, tag or commit nothing');
      await ui.open('/repositories/lost/object?ref=main&path=b.txt');
      await ui.sees('b.txt is not on main');
    });
  });

  // A list should appear within a second. Count what it waits for: that does not depend on how busy the machine is.
  test(
    'the first list waits for few answers, and none is asked for twice',
    { concurrent: false },
    async () => {
      await stage.repository('quick', { 'a.txt': 'a' });
      await stage.play(async (ui) => {
        const asked: string[] = [];
        ui.page.on('request', (request) => asked.push(request.url().slice(stage.server.url.length)));
        await ui.page.goto('/repositories/quick/objects', { waitUntil: 'commit' });
        await ui.link('a.txt').waitFor();
        const answers = asked.filter((path) => path.startsWith('/api/v1/'));
        expect(answers.filter((path) => path.includes('/refs/main/objects/ls?'))).toHaveLength(1);
        expect(new Set(answers).size).toBe(answers.length);
        expect(answers.length).toBeLessThanOrEqual(12);
        expect(asked.filter((path) => path.startsWith('/assets/')).length).toBeLessThanOrEqual(8);
      });
    },
  );
}

/** Rarely touched. */
export function rareHabitFlows(stage: Stage): void {
  test('preferences change how times, rows and text are shown, and are kept', async () => {
    await stage.repository('preferring', { 'a.json': '{"a": 1}' });
    await stage.play(
      async (ui) => {
        await ui.open('/repositories/preferring/objects');
        const row = ui.page.getByRole('row').filter({ hasText: 'a.json' });
        const tall = (await row.boundingBox())?.height ?? 0;
        await ui.button(/Account of/).click();
        await ui.page.getByRole('menuitem', { name: 'Preferences' }).click();
        await ui.dialog().getByText('UTC', { exact: true }).click();
        await ui.dialog().getByText('Compact', { exact: true }).click();
        await ui.field('Wrap long lines of text').check();
        await ui.page.keyboard.press('Escape');
        await row.locator('time[title$=" UTC"]').waitFor();
        expect((await row.boundingBox())?.height ?? tall).toBeLessThan(tall);
        await ui.open('/repositories/preferring/object?ref=main&path=a.json');
        await ui.button('Do not wrap').waitFor();
      },
      { alone: true },
    );
  });
}
