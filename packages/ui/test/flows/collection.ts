import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Stage } from '../stage.ts';

/** An object that a failed upload left behind in 2024. */
function oldGarbage(stage: Stage, repository: string): { address: string; collectElsewhere: () => void } {
  const namespace = join(stage.server.home, 'svc/data/block', repository);
  const partition = 'giug50070s3ge1o70s3g';
  const address = `data/${partition}/cm9010070s3ge1o70s3g`;
  mkdirSync(join(namespace, 'data', partition), { recursive: true });
  writeFileSync(join(namespace, address), 'garbage');
  const then = new Date('2024-01-01');
  utimesSync(join(namespace, address), then, then);
  return {
    address,
    collectElsewhere() {
      const owner = readdirSync(namespace, { recursive: true, encoding: 'utf8' }).find((name) =>
        name.endsWith('owner.json'),
      );
      const file = join(namespace, owner ?? '');
      const known = JSON.parse(readFileSync(file, 'utf8')) as { generation: number };
      writeFileSync(file, JSON.stringify({ ...known, generation: known.generation + 9 }));
    },
  };
}

export function collectionFlows(stage: Stage): void {
  test('garbage is looked for, listed and collected, and a schedule is kept', async () => {
    await stage.repository('collected', { 'a.txt': 'a' });
    const garbage = oldGarbage(stage, 'collected');
    await stage.play(async (ui) => {
      await ui.open('/repositories/collected/settings/retention');
      const start = async (way: string, action: string, typed?: string): Promise<void> => {
        await ui.button('Collect garbage').click();
        await ui.dialog().getByRole('radio', { name: way }).click();
        if (typed !== undefined) {
          await ui.refuses(ui.button(action, ui.dialog()));
          await ui.field(`Type ${typed} to confirm`).fill(typed);
        }
        await ui.button(action, ui.dialog()).click();
        await ui.gone(ui.dialog());
      };
      await ui.sees('Never collected');
      await ui.button('Collect garbage').click();
      // To look is what is chosen already.
      await ui.button('Look for garbage', ui.dialog()).click();
      await ui.page.getByText('dry run', { exact: true }).waitFor();
      const report = ui.page.getByRole('region', { name: 'Report' });
      await report.getByText('Expired by the rules').waitFor();
      await report.getByRole('group', { name: 'What keeps data' }).getByText('main').waitFor();
      await report.getByRole('group', { name: 'Objects' }).getByText(garbage.address).waitFor();
      await ui.sees('Nothing waits to be deleted');
      const saved = ui.page.waitForEvent('download');
      await ui.button('Download list').click();
      expect(readFileSync(await (await saved).path(), 'utf8')).toBe(`${garbage.address}\t7\tuncommitted\n`);
      await report.getByText('Refused by the store', { exact: true }).last().click();
      await report.getByText('None', { exact: true }).waitFor();

      await start('Collect', 'Collect garbage');
      await ui.page.getByText('completed', { exact: true }).nth(1).waitFor();
      await ui.sees('1 (7 B) waiting to be deleted');
      await start('Delete at once', 'Delete at once', 'delete at once');
      await ui.page.getByText('at once', { exact: true }).waitFor();
      await ui.page.getByText('completed', { exact: true }).nth(2).waitFor();
      // The repository is too young for more.
      await ui.sees('1 of what was due stayed');

      // As after a backup was restored: the owner's file knows of a later run.
      garbage.collectElsewhere();
      await start('Collect', 'Collect garbage');
      await ui.sees('Somebody else collects this namespace');
      await ui.button('Take over').click();
      await ui.refuses(ui.button('Take over', ui.dialog()));
      await ui.field('Type collected to confirm').fill('collected');
      await ui.button('Take over', ui.dialog()).click();
      await ui.gone(ui.page.getByText('Somebody else collects this namespace'));
      await ui.page.getByText('completed', { exact: true }).nth(3).waitFor();

      await ui.field('Hours that garbage waits').fill('5');
      await ui.sees('0, or at least 24 whole hours');
      await ui.refuses(ui.button('Save schedule'));
      await ui.field('Hours that garbage waits').fill('48');
      await ui.field('Hours between runs').fill('6');
      await ui.button('Save schedule').click();
      await ui.gone(ui.button('Save schedule'));
    });
    const params = { path: { repository: 'collected' } };
    const settings = await stage.client.get('/repositories/{repository}/settings/gc', { params });
    expect(settings).toEqual({ enabled: 'inherit', interval_hours: 6, quarantine_hours: 48 });
    const { results } = await stage.client.get('/repositories/{repository}/gc/runs', { params });
    expect(
      results.map(({ state, options: { dry_run, hard, take_over } }) => [state, dry_run, hard, take_over]),
    ).toEqual([
      ['completed', false, false, true],
      ['failed', false, false, false],
      ['completed', false, true, false],
      ['completed', false, false, false],
      ['completed', true, false, false],
    ]);
  });

  test('rules are tried before they are set, and a brake says how to go on', async () => {
    await stage.repository('tried', { 'a.txt': 'a' });
    await stage.play(async (ui) => {
      const message =
        'would delete 4000 of 5000 objects (80 %): check the rules, then run again with max_percent';
      // A thousand due objects would take too long to make.
      await ui.page.route('**/gc/runs?*', async (route) => {
        const response = await route.fetch();
        const body = (await response.json()) as { results: { state: string; error?: unknown }[] };
        const [last] = body.results;
        if (last !== undefined && last.state === 'completed')
          Object.assign(last, { state: 'failed', error: { message } });
        await route.fulfill({ response, json: body });
      });
      await ui.open('/repositories/tried/settings/retention');
      await ui.button('Set rules').click();
      await ui.button('What would they free?').click();
      await ui.sees('These rules were only tried');
      await ui.sees('The last run would have deleted too much, and deleted nothing');
      await ui.button('Delete it all the same').click();
      await ui.field('Type tried to confirm').fill('tried');
      const asked = ui.page.waitForRequest(
        (request) => request.method() === 'POST' && request.url().endsWith('/gc/runs'),
      );
      await ui.button('Delete it all the same', ui.dialog()).click();
      expect((await asked).postDataJSON()).toEqual({ max_percent: 100 });
    });
  });

  test('a run that waits is cancelled', async () => {
    await stage.repository('cancelled', { 'a.txt': 'a' });
    await stage.play(async (ui) => {
      // The page sees a run that waits; the server takes runs at once.
      await ui.page.route('**/gc/runs?*', async (route) => {
        const response = await route.fetch();
        const body = (await response.json()) as { results: { state: string; report?: unknown }[] };
        for (const run of body.results) {
          run.state = 'queued';
          delete run.report;
        }
        await route.fulfill({ response, json: body });
      });
      await ui.open('/repositories/cancelled/settings/retention');
      const asked = ui.page.waitForRequest((request) => request.url().endsWith('/cancel'));
      await ui.button('Collect garbage').click();
      await ui.button('Look for garbage', ui.dialog()).click();
      await ui.gone(ui.dialog());
      await ui.button('Cancel').click();
      expect((await asked).method()).toBe('POST');
    });
  });
}
