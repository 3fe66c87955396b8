import { source as axeSource } from 'axe-core';
import type { AxeResults, RunOptions } from 'axe-core';
import { waitUntil } from '@svc/testing';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestPage } from './stage.ts';

export const everything: RunOptions = {
  runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] },
  resultTypes: ['violations'],
};
/** A folder that receives a picture of each screen in both themes and widths, for people to look at. */
const pictures = process.env['SVC_TEST_SCREENS'];
/** In the second theme only what depends on colours can differ. */
const coloursOnly: RunOptions = {
  runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },
  resultTypes: ['violations'],
};

export async function check(ui: TestPage, name: string, options: RunOptions): Promise<string[]> {
  if (!(await ui.page.evaluate(() => 'axe' in globalThis))) await ui.page.evaluate(axeSource);
  const { violations } = await ui.page.evaluate(
    (run) => (globalThis as unknown as { axe: { run(o: RunOptions): Promise<AxeResults> } }).axe.run(run),
    options,
  );
  return violations.map(
    ({ id, nodes }) => `${name}: ${id} ${nodes.map(({ target }) => String(target)).join(' | ')}`,
  );
}

export type Screen = readonly [path: string, shows: string | RegExp, act?: (ui: TestPage) => Promise<void>];

/** Active links that do not come into sight: the page may take a moment to notice its new width. */
async function activeOutOfSight(ui: TestPage): Promise<(string | null)[]> {
  const look = (): Promise<(string | null)[]> =>
    ui.page.locator('nav [aria-current]').evaluateAll((links) =>
      links
        .filter((link) => {
          const { left, right } = link.getBoundingClientRect();
          return left < 0 || right > innerWidth;
        })
        .map((link) => link.textContent),
    );
  // What is still out of sight after that is the answer.
  await waitUntil(async () => (await look()).length === 0, { timeoutMs: 5000 }).catch(() => undefined);
  return look();
}

async function picture(ui: TestPage, path: string, look: string): Promise<void> {
  if (pictures === undefined) return;
  mkdirSync(pictures, { recursive: true });
  const name = `${String(drawn).padStart(3, '0')}-${path.replaceAll(/[^\w-]+/g, '-').slice(1, 60)}-${look}.png`;
  await ui.page.screenshot({ path: join(pictures, name) });
}

let drawn = 0;

const wide = { width: 1440, height: 900 };

/** Looks at each screen in both themes, then as wide as a phone. */
export async function look(ui: TestPage, screens: readonly Screen[]): Promise<string[]> {
  const problems: string[] = [];
  await ui.page.emulateMedia({ colorScheme: 'light' });
  await ui.page.setViewportSize(wide);
  await ui.open('/repositories');
  await ui.page.getByRole('heading', { level: 1 }).waitFor();
  for (const screen of screens) {
    // One that does not come keeps nobody from seeing the others.
    await lookAt(ui, screen, problems).catch((error: unknown) =>
      problems.push(`${screen[0]}: ${String(error)}`),
    );
  }
  return problems;
}

async function lookAt(ui: TestPage, [path, shows, act]: Screen, problems: string[]): Promise<void> {
  await ui.go(path);
  await ui.sees(shows);
  await act?.(ui);
  await ui.settles();
  drawn += 1;
  await picture(ui, path, 'light');
  problems.push(...(await check(ui, `${path} light`, everything)));
  await ui.page.emulateMedia({ colorScheme: 'dark' });
  await picture(ui, path, 'dark');
  problems.push(...(await check(ui, `${path} dark`, coloursOnly)));
  await ui.page.emulateMedia({ colorScheme: 'light' });
  await ui.page.setViewportSize({ width: 390, height: 844 });
  await ui.settles();
  const sideways = (): Promise<number> =>
    ui.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  // What is open over a page follows its new width a moment later.
  await waitUntil(async () => (await sideways()) <= 0, { timeoutMs: 5000 }).catch(() => undefined);
  if ((await sideways()) > 0) problems.push(`${path}: ${await sideways()} px wider than a phone`);
  for (const text of await activeOutOfSight(ui))
    problems.push(`${path}: the active link "${text}" is out of sight on a phone`);
  await picture(ui, path, 'phone-light');
  if (pictures !== undefined) {
    await ui.page.emulateMedia({ colorScheme: 'dark' });
    await picture(ui, path, 'phone-dark');
    await ui.page.emulateMedia({ colorScheme: 'light' });
  }
  await ui.page.setViewportSize(wide);
}
