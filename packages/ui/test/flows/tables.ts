import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { keys } from '../stage.ts';
import type { Stage } from '../stage.ts';

const schema = { type: 'struct', fields: [{ id: 1, name: 'n', required: false, type: 'long' }] };

export function tableFlows(stage: Stage): void {
  test('rows that both branches appended to a table are put together by the merge', async () => {
    await stage.repository('appended');
    await stage.write('appended', 'main', { 'start.txt': '' });
    await stage.commit('appended', 'main', 'Start');
    await ask('POST', 'main', '', { namespace: ['db'] });
    await ask('POST', 'main', '/db/tables', { name: 't', schema });
    await append('main', { id: 1, sequence: 1 });
    await stage.branch('appended', 'dev');
    await append('dev', { id: 2, parent: 1, sequence: 2 });
    await append('main', { id: 3, parent: 1, sequence: 2 });
    await stage.play(async (ui) => {
      await ui.open('/repositories/appended/compare?ref=main&compare=dev');
      await ui.sees('table db.t');
      await ui.page
        .getByRole('radiogroup', { name: 'What to take for db/_iceberg/tables/t.json' })
        .getByLabel('append')
        .check();
      await ui.sees('1 of 1 settled');
      await ui.button('Merge as chosen').click();
      await ui.button('Merge', ui.dialog()).click();
      await ui.gone(ui.dialog());
    });
    const { metadata } = (await ask('GET', 'main', '/db/tables/t')) as {
      metadata: { snapshots: { 'snapshot-id': number; 'parent-snapshot-id'?: number }[] };
    };
    const snapshots = metadata.snapshots.map((each) => [each['snapshot-id'], each['parent-snapshot-id']]);
    expect(snapshots).toEqual([
      [1, undefined],
      [3, 1],
      [2, 3],
    ]);
  });

  /** Asks the table catalog. */
  async function ask(method: string, ref: string, path: string, body?: object): Promise<unknown> {
    const pair = Buffer.from(`${keys.access_key_id}:${keys.secret_access_key}`).toString('base64');
    const answer = await fetch(`${stage.server.url}/iceberg/v1/r.appended.${ref}/namespaces${path}`, {
      method,
      headers: { authorization: `Basic ${pair}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    expect(answer.status, text).toBe(200);
    return JSON.parse(text);
  }

  /** Commits ten more rows to the table as writers do: a list of manifests, then the table. */
  async function append(
    branch: string,
    { id, parent, sequence }: { id: number; parent?: number; sequence: number },
  ): Promise<void> {
    const path = `db/t/metadata/snapshot-${id}.avro`;
    const body = new Uint8Array(
      readFileSync(join(import.meta.dirname, '..', 'fixtures', `snapshot-${id}.avro`)),
    );
    await stage.client.objects.upload({ repository: 'appended', branch, path, body });
    const snapshot = {
      'snapshot-id': id,
      ...(parent !== undefined && { 'parent-snapshot-id': parent }),
      'sequence-number': sequence,
      'timestamp-ms': Date.now(),
      'manifest-list': `s3://appended/${path}`,
      'schema-id': 0,
      summary: { operation: 'append', 'added-records': '10', 'total-records': String(sequence * 10) },
    };
    const updates = [
      { action: 'add-snapshot', snapshot },
      { action: 'set-snapshot-ref', 'ref-name': 'main', type: 'branch', 'snapshot-id': id },
    ];
    await ask('POST', branch, '/db/tables/t', { requirements: [], updates });
    await stage.commit('appended', branch, `Snapshot ${id}`);
  }
}
