import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Stage } from '../stage.ts';

export function viewerFlows(stage: Stage): void {
  test('text, Markdown, CSV, Parquet and images are previewed', async () => {
    await stage.client.post('/repositories', {
      body: { name: 'previews', storage_namespace: 'local://previews', sample_data: true },
    });
    await stage.branch('previews', 'work');
    const area = {
      type: 'Polygon',
      coordinates: [
        [
          [7, 46],
          [8, 46],
          [8, 47],
          [7, 46],
        ],
      ],
    };
    const point = { type: 'Point', coordinates: [7.6, 46.8] };
    const features = [
      { type: 'Feature', geometry: area, properties: {} },
      { type: 'Feature', geometry: point, properties: { name: 'North Ridge' } },
    ];
    await stage.write('previews', 'work', {
      'stations.geojson': JSON.stringify({ type: 'FeatureCollection', features }),
    });
    await stage.write('previews', 'work', { 'tasks.md': '# Tasks\n\n- [x] read\n- [ ] write\n' });
    await stage.play(async (ui) => {
      const view = async (path: string, ref = 'main'): Promise<void> =>
        await ui.open(`/repositories/previews/object?ref=${ref}&path=${encodeURIComponent(path)}`);
      await view('README.md');
      await ui.page.getByRole('heading', { name: 'previews' }).waitFor();
      await ui.page.getByText('Source', { exact: true }).click();
      await ui.isAt(/view=source/);
      await ui.page.locator('.cm-content').waitFor();
      await view('tasks.md', 'work');
      await ui.page.getByRole('checkbox', { name: 'Done', checked: true }).waitFor();
      await ui.page.getByRole('checkbox', { name: 'To do', checked: false }).waitFor();
      await ui.page.getByRole('heading', { name: 'Tasks', level: 2 }).waitFor();
      expect(await ui.page.getByRole('heading', { level: 1 }).count()).toBe(1);
      await view('data/readings/2026-01.json');
      await ui.sees('"temperature_c"');
      await ui.page.getByText('Tree', { exact: true }).click();
      await ui.isAt(/view=tree/);
      await ui.page.locator('.json-tree summary', { hasText: 'root' }).waitFor();
      await ui.page.locator('.json-tree .json-children summary').first().click();
      await ui.page.locator('.json-leaf', { hasText: 'temperature_c' }).first().waitFor();
      await view('data/stations.csv');
      await ui.page.getByRole('cell', { name: 'North Ridge' }).waitFor();
      await view('stations.geojson', 'work');
      const map = ui.page.getByRole('img', { name: 'Map of 2 shapes' });
      await map.locator('circle').click();
      await ui.page.getByLabel('Properties').getByText('North Ridge').waitFor();
      const seen = (): Promise<string | null> => map.getAttribute('viewBox');
      const whole = await seen();
      await ui.button('Zoom in').click();
      expect(await seen()).not.toBe(whole);
      await ui.button('Show all').click();
      expect(await seen()).toBe(whole);
      await view('weather.parquet');
      await ui.sees('2,190 rows');
      await ui.page.getByRole('columnheader', { name: /temperature_c/ }).waitFor();
      await view('images/temperature.png');
      await ui.page.getByRole('img', { name: 'temperature.png' }).waitFor();
      await ui.page.waitForFunction(() => {
        const image = document.querySelector('.checker img');
        return image instanceof HTMLImageElement && image.naturalWidth > 0;
      });
      await ui.button('Code').click();
      await ui.sees('svcctl fs cat svc://previews/main/images/temperature.png');
    });
  });

  test('stored Markdown and HTML cannot run a script', async () => {
    const attack =
      '# Safe\n<img src=x onerror="window.hacked=1">[click](javascript:window.hacked=2)<script>window.hacked=3</script><b>bold</b>';
    await stage.repository('attack', { 'evil.md': attack, 'x.html': '<script>window.hacked=4</script>' });
    await stage.play(async (ui) => {
      await ui.open('/repositories/attack/object?ref=main&path=evil.md');
      await ui.page.getByRole('heading', { name: 'Safe' }).waitFor();
      await ui.page.locator('b', { hasText: 'bold' }).waitFor();
      expect(await ui.page.getByRole('link', { name: 'click' }).count()).toBe(0);
      expect(await ui.page.evaluate('window.hacked')).toBeUndefined();
      const raw = await ui.context.request.get('/api/v1/repositories/attack/refs/main/objects?path=x.html');
      expect(raw.headers()['content-disposition']).toContain('attachment');
      expect(raw.headers()['content-security-policy']).toContain('sandbox');
    });
  });

  test('SQL runs in the browser over several refs and writes to a branch', async () => {
    const csv = 'id,name\n1,one\n2,two\n';
    await stage.repository('sql', {
      "it's 100% ü.csv": csv,
      'other.csv': 'id,size\n1,10\n2,20\n',
      'lines.jsonl': '{"a":1,"b":"first"}\n{"a":2,"b":"second"}\n',
    });
    await stage.branch('sql', 'dev');
    const sample = readFileSync(join(import.meta.dirname, '../fixtures/rows.parquet'));
    await stage.client.objects.upload({
      repository: 'sql',
      branch: 'main',
      path: "it's 100% ü.parquet",
      body: new Uint8Array(sample),
    });
    await stage.play(async (ui) => {
      const run = async (sql: string): Promise<void> => {
        await ui.page.locator('.cm-content').fill(sql);
        await ui.page.locator('.cm-content').press('ControlOrMeta+Enter');
      };
      const path = encodeURIComponent("it's 100% ü.parquet");
      await ui.open(`/repositories/sql/object?ref=main&path=${path}&tab=sql`);
      await ui.sees(/3 rows in/);
      await run(
        "SELECT a.name, b.size FROM READ_CSV('svc://sql/main/it''s 100% ü.csv', AUTO_DETECT=TRUE) a JOIN READ_CSV('svc://sql/dev/other.csv', AUTO_DETECT=TRUE) b ON a.id = b.id WHERE b.size > 15",
      );
      await ui.page.getByRole('cell', { name: 'two' }).waitFor();
      await run(
        "SELECT 12.5::DECIMAL(6,2) AS price, TIME '10:11:12' AS at, INTERVAL 3 DAY AS days, TIMESTAMP '2024-01-02 03:04:05' AS moment, sum(x) AS total, 7 AS twice, 8 AS twice FROM range(5) t(x)",
      );
      await ui.page.getByRole('columnheader', { name: 'price DECIMAL(6,2)' }).waitFor();
      const cells = ui.page.locator('tbody tr').first().locator('td:not(.filler)');
      expect((await cells.allTextContents()).slice(-7)).toEqual([
        '12.50',
        '10:11:12',
        '3 days',
        '2024-01-02 03:04:05',
        '10',
        '7',
        '8',
      ]);
      await run('SELECT x FROM range(2500) t(x)');
      await ui.sees('the first 1,000 are shown');
      const saving = ui.page.waitForEvent('download');
      await ui.button('All rows as CSV').click();
      const saved = readFileSync(await (await saving).path(), 'utf8');
      expect(saved.trimEnd().split('\n')).toHaveLength(2501);
      await run("SELECT b, a + 1 AS next FROM 'svc://sql/main/lines.jsonl'");
      await ui.page.getByRole('cell', { name: 'second' }).waitFor();
      await run("COPY (SELECT 41 + 1 AS answer) TO 'svc://sql/dev/out.parquet'");
      await ui.sees('Written: svc://sql/dev/out.parquet');
      await run("SELECT answer FROM READ_PARQUET('svc://sql/dev/out.parquet')");
      await ui.page.getByRole('cell', { name: '42' }).waitFor();
      await run('SELECT nonsense');
      await ui.sees('The query failed');
    });
    expect((await stage.read('sql', 'dev', 'out.parquet')).startsWith('PAR1')).toBe(true);
  });

  test('an object is edited, replaced, renamed and deleted where it is shown', async () => {
    await stage.repository('object-changes', { 'dir/a.txt': 'one\n', 'dir/b.txt': 'b' });
    const open = '/repositories/object-changes/object?path=dir%2Fa.txt';
    await stage.play(async (ui) => {
      const change = async (item: string): Promise<void> => {
        await ui.button('Change').click();
        await ui.page.getByRole('menuitem', { name: item }).click();
      };
      await ui.open(open);
      await ui.sees('one');
      await change('Edit');
      await ui.refuses(ui.button('Save', ui.dialog()));
      await ui.field('Text of a.txt').fill('two');
      // Somebody else is faster: nothing is overwritten.
      await stage.write('object-changes', 'main', { 'dir/a.txt': 'theirs' });
      await ui.button('Save', ui.dialog()).click();
      await ui.sees(/changed since it was opened/);
      await ui.button('Cancel', ui.dialog()).click();
      await ui.open(open);
      await ui.sees('theirs');
      await change('Edit');
      await ui.field('Text of a.txt').fill('two');
      await ui.button('Save', ui.dialog()).click();
      await ui.gone(ui.dialog());
      expect(await stage.read('object-changes', 'main', 'dir/a.txt')).toBe('two');
      await ui
        .field('File that replaces this object')
        .setInputFiles({ name: 'new.txt', mimeType: 'text/plain', buffer: Buffer.from('three') });
      await ui.sees('a.txt now holds new.txt');
      expect(await stage.read('object-changes', 'main', 'dir/a.txt')).toBe('three');
      await stage.commit('object-changes', 'main', 'Three');
      await ui.open(`${open}&tab=history`);
      await ui.sees('Three');
      await ui.link('compare with now').last().click();
      await ui.page.locator('.cm-deletedChunk, .cm-changedLine').first().waitFor();
      await ui.open(open);
      await change('Delete');
      await ui.button('Delete', ui.dialog()).click();
      await ui.isAt(/\/objects\?ref=main&path=dir%2F/);
      await ui.link('b.txt').waitFor();
      await ui.open('/repositories/object-changes/object?ref=main@&path=dir%2Fb.txt');
      await ui.button('Change').click();
      await ui.sees('Only a branch can be changed; choose one');
      await ui.refuses(ui.page.getByRole('menuitem', { name: 'Delete' }));
    });
  });
}

/** Rarely touched. */
export function rareViewerFlows(stage: Stage): void {
  test('a notebook is shown with its outputs, and no script in it runs', async () => {
    const notebook = {
      cells: [
        { cell_type: 'markdown', source: ['# Findings\n', 'Warm **winters**'] },
        {
          cell_type: 'code',
          execution_count: 3,
          source: 'print(1 + 1)',
          outputs: [
            { output_type: 'stream', name: 'stdout', text: ['two\n'] },
            {
              output_type: 'display_data',
              data: {
                'text/html':
                  '<b>rich</b><script>parent.hacked=1</script><img src=x onerror="parent.hacked=2">',
              },
            },
          ],
        },
      ],
    };
    await stage.repository('notebooks', { 'n.ipynb': JSON.stringify(notebook) });
    await stage.play(async (ui) => {
      await ui.open('/repositories/notebooks/object?ref=main&path=n.ipynb');
      await ui.page.getByRole('heading', { name: 'Findings' }).waitFor();
      await ui.sees('print(1 + 1)');
      await ui.sees('two');
      await ui.page.locator('.notebook b', { hasText: 'rich' }).waitFor();
      expect(await ui.page.evaluate('window.hacked')).toBeUndefined();
    });
  });

  test('PDF, sound and film are shown by the browser, long JSON is not called wrong, and snippets can be used', async () => {
    const rows = Array.from({ length: 30_000 }, (_, at) => ({ at, name: 'a name to make it long' }));
    await stage.repository('media', {
      'page.pdf': '%PDF-1.4',
      'tone.wav': 'RIFF',
      'film.mp4': 'ftyp',
      'rows.csv': 'a,b\n1,2\n',
      'long.json': JSON.stringify(rows, undefined, 1),
    });
    await stage.play(async (ui) => {
      const open = (path: string): Promise<void> => ui.go(`/repositories/media/object?ref=main&path=${path}`);
      await ui.open('/repositories/media/object?ref=main&path=tone.wav');
      await ui.page.locator('audio[controls]').waitFor();
      await open('film.mp4');
      await ui.page.locator('video[controls]').waitFor();
      await open('long.json&view=tree');
      await ui.sees(/^The first .* are shown/);
      expect(await ui.page.getByText(/not valid|invalid/i).count()).toBe(0);
      await open('rows.csv');
      await ui.sees('rows.csv');
      await ui.button('Code').click();
      await ui.page.getByText('Spark', { exact: true }).click();
      await ui.sees(/fs\.s3a\.secret\.key/);
      await ui.sees(new RegExp(`fs\\.s3a\\.endpoint.*${new URL(stage.server.url).port}`));
    });
    await stage.play(
      async (ui) => {
        await ui.open('/repositories/media/object?ref=main&path=page.pdf');
        await ui.page.locator('iframe[title="page.pdf"]').waitFor();
      },
      { alone: true },
    );
  });
}
