import { expect, test } from 'vitest';
import type { Stage } from '../stage.ts';

const kilobyte = 1024;

export function firstPageFlows(stage: Stage): void {
  test('a first visit to a folder loads at most 200 KB and makes at most six calls', async () => {
    await stage.repository('first-page', { 'a/x.txt': 'x', 'b.txt': 'b' });
    await stage.play(
      async (ui) => {
        const devtools = await ui.context.newCDPSession(ui.page);
        await devtools.send('Network.enable');
        let bytes = 0;
        devtools.on('Network.loadingFinished', ({ encodedDataLength }) => {
          bytes += encodedDataLength;
        });
        // What the address names is asked for before the scripts of the page have come.
        const asked = ui.page.waitForRequest(/\/last_commits\?/);
        await ui.page.route(/\/assets\/.*\.js$/, async (route) => {
          await asked;
          await route.continue();
        });
        const calls: string[] = [];
        ui.page.on('request', (request) => {
          const { pathname, search } = new URL(request.url());
          if (pathname.startsWith('/api/')) calls.push(pathname + search);
        });
        await ui.open('/repositories/first-page/objects');
        await ui.link('b.txt').waitFor();
        await ui.sees('Start');
        await ui.page.waitForLoadState('networkidle');
        expect(new Set(calls).size, calls.join('\n')).toBe(calls.length);
        expect(calls.length, calls.join('\n')).toBeLessThanOrEqual(6);
        expect(bytes / kilobyte).toBeLessThan(200);
      },
      { alone: true },
    );
  });

  test('before its scripts have come the page is not blank, and what stood there is gone when they have', async () => {
    await stage.play(
      async (ui) => {
        let release = (): void => undefined;
        const held = new Promise<void>((resolve) => {
          release = resolve;
        });
        await ui.page.route(/\/assets\//, async (route) => {
          await held;
          await route.continue();
        });
        await ui.page.goto('/repositories', { waitUntil: 'commit' });
        await ui.page.locator('.shell-bar').waitFor();
        expect(await ui.page.locator('main').count()).toBe(0);
        release();
        await ui.page.getByRole('heading', { name: 'Repositories' }).waitFor();
        await ui.page.locator('.shell-bar').waitFor({ state: 'hidden' });
      },
      { alone: true },
    );
  });
}
