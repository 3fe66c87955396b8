import { afterAll, beforeAll, expect, it } from 'vitest';
import { appendTable, type AppendedTable } from '../src/index.ts';
import { readManifestList, writeManifestList, type ManifestFile } from '../src/manifests/manifest-list.ts';
import { actor, composeCatalog, type Fields, type TestCatalog } from './compose.ts';

let catalog: TestCatalog;
const schema = { type: 'struct', fields: [{ id: 1, name: 'n', required: false, type: 'long' }] };

beforeAll(async () => {
  catalog = await composeCatalog();
  await catalog.createRepository('lake');
});
afterAll(async () => {
  await catalog.close();
  expect(catalog.failures).toEqual([]);
});

const tableAt = (ref: string, name: string): string => `/r.lake.${ref}/namespaces/db/tables/${name}`;

/** A manifest that adds ten rows. */
const manifest = (snapshot: number, more: Partial<ManifestFile> = {}): ManifestFile => ({
  path: `s3://lake/db/manifest-${snapshot}.avro`,
  length: 1,
  specId: 0,
  content: 0,
  sequenceNumber: snapshot % 10,
  minSequenceNumber: snapshot % 10,
  addedSnapshotId: snapshot,
  addedFiles: 1,
  existingFiles: 0,
  deletedFiles: 0,
  addedRows: 10,
  existingRows: 0,
  deletedRows: 0,
  partitions: undefined,
  keyMetadata: undefined,
  firstRowId: undefined,
  ...more,
});

/** Makes a table, with one snapshot that every branch starts from. */
async function make(name: string, version = '2'): Promise<void> {
  const body = { name, schema, properties: { 'format-version': version } };
  await catalog.send('POST', '/r.lake.main/namespaces', { namespace: ['db'] });
  expect((await catalog.send('POST', '/r.lake.main/namespaces/db/tables', body)).status).toBe(200);
  await snapshot('main', name, { id: 1, manifests: [manifest(1, { firstRowId: rowIds(version, 0) })] });
  await catalog.commit('main');
}

const rowIds = (version: string, first: number): number | undefined => (version === '3' ? first : undefined);

interface NewSnapshot {
  readonly id: number;
  readonly parent?: number;
  readonly manifests: readonly ManifestFile[];
}

/** Commits a snapshot as writers do: a list of manifests, then the table. */
async function snapshot(ref: string, name: string, { id, parent, manifests }: NewSnapshot): Promise<void> {
  const loaded = await catalog.send('GET', tableAt(ref, name));
  const metadata = loaded.body['metadata'] as unknown as Record<string, number>;
  const formatVersion = metadata['format-version'] ?? 2;
  const sequenceNumber = (metadata['last-sequence-number'] ?? 0) + 1;
  const path = `db/${name}/metadata/snap-${ref}-${id}.avro`;
  const bytes = writeManifestList(manifests, {
    formatVersion,
    snapshotId: id,
    parentId: parent,
    sequenceNumber,
  });
  await catalog.engine.objects.upload({ repository: 'lake', branch: ref, path, body: bytes });
  const added = {
    'snapshot-id': id,
    ...(parent !== undefined && { 'parent-snapshot-id': parent }),
    'sequence-number': sequenceNumber,
    'timestamp-ms': Date.now(),
    'manifest-list': `s3://lake/${path}`,
    'schema-id': 0,
    summary: { operation: 'append', 'added-records': '10', 'total-records': String(sequenceNumber * 10) },
    ...(formatVersion >= 3 && { 'first-row-id': metadata['next-row-id'] ?? 0, 'added-rows': 10 }),
  };
  const updates = [
    { action: 'add-snapshot', snapshot: added },
    { action: 'set-snapshot-ref', 'ref-name': 'main', type: 'branch', 'snapshot-id': id },
  ];
  const answer = await catalog.send('POST', tableAt(ref, name), { requirements: [], updates });
  expect([answer.status, answer.message]).toEqual([200, '']);
}

async function branch(name: string): Promise<void> {
  await catalog.engine.branches.create({ repository: 'lake', name, source: 'main', actor });
}

const append = (source: string, name: string): Promise<AppendedTable> =>
  appendTable({
    engine: catalog.engine,
    repository: 'lake',
    source,
    destination: 'main',
    path: `db/_iceberg/tables/${name}.json`,
    ensure: () => Promise.resolve(),
  });

it.each(['2', '3'])(
  'makes appends again behind those of the destination, format version %s',
  async (version) => {
    const [name, dev] = [`t${version}`, `dev${version}`];
    await make(name, version);
    await branch(dev);
    const base = manifest(1, { firstRowId: rowIds(version, 0) });
    const first = manifest(12, { firstRowId: rowIds(version, 10) });
    const second = manifest(13, { firstRowId: rowIds(version, 20) });
    await snapshot(dev, name, { id: 12, parent: 1, manifests: [first, base] });
    await snapshot(dev, name, { id: 13, parent: 12, manifests: [second, first, base] });
    await catalog.commit(dev);
    const other = manifest(22, { firstRowId: rowIds(version, 10) });
    await snapshot('main', name, { id: 22, parent: 1, manifests: [other, base] });
    await catalog.commit('main');

    const { resolution, additions } = await append(dev, name);
    const between = { repository: 'lake', source: dev, destination: 'main', actor };
    await catalog.engine.merges.merge({ ...between, resolutions: [resolution], additions });
    const metadata = (await catalog.send('GET', tableAt('main', name))).body['metadata'];
    expect(metadata).toMatchObject({ 'current-snapshot-id': 13, 'last-sequence-number': 4 });
    const snapshots = metadata?.['snapshots'] as unknown as Fields[];
    const told = snapshots.map((each) => [
      each['snapshot-id'],
      each['parent-snapshot-id'],
      each['sequence-number'],
      each['summary']?.['total-records'],
      each['first-row-id'],
    ]);
    const rows = (at: number): number | undefined => rowIds(version, at);
    expect(told).toEqual([
      [1, undefined, 1, '10', rows(0)],
      [22, 1, 2, '20', rows(10)],
      [12, 22, 3, '30', rows(20)],
      [13, 12, 4, '40', rows(30)],
    ]);
    const lists = snapshots.slice(2).map(async (each) => {
      const path = each['manifest-list']?.replace('s3://lake/', '') ?? '';
      const { body } = await catalog.engine.objects.open({ repository: 'lake', ref: 'main', path });
      const chunks: Buffer[] = [];
      if (body.bytes === undefined) for await (const chunk of body.stream()) chunks.push(chunk as Buffer);
      else chunks.push(Buffer.from(body.bytes));
      body.dispose();
      return readManifestList(Buffer.concat(chunks)).map((item) => [
        item.addedSnapshotId,
        item.sequenceNumber,
        item.firstRowId,
      ]);
    });
    expect(await Promise.all(lists)).toEqual([
      [
        [12, 3, rows(20)],
        [22, 2, rows(10)],
        [1, 1, rows(0)],
      ],
      [
        [13, 4, rows(30)],
        [12, 3, rows(20)],
        [22, 2, rows(10)],
        [1, 1, rows(0)],
      ],
    ]);
  },
);

it('believes manifests more than what a snapshot says of itself', async () => {
  await make('liar');
  const cases = {
    rewrites: [manifest(12)],
    deletes: [manifest(12, { content: 1 }), manifest(1)],
    moves: [manifest(12, { existingFiles: 1 }), manifest(1)],
    removes: [manifest(12, { deletedFiles: 1 }), manifest(1)],
    borrows: [manifest(12, { addedSnapshotId: 99 }), manifest(1)],
  };
  for (const [name, manifests] of Object.entries(cases)) {
    await branch(name);
    await snapshot(name, 'liar', { id: 12, parent: 1, manifests });
    await catalog.commit(name);
  }
  await snapshot('main', 'liar', { id: 22, parent: 1, manifests: [manifest(22), manifest(1)] });
  await catalog.commit('main');
  await expect(append('rewrites', 'liar')).rejects.toThrow('rewrites rewrote the manifests');
  for (const name of ['deletes', 'moves', 'removes', 'borrows']) {
    await expect(append(name, 'liar')).rejects.toThrow(`${name} did more than append files`);
  }
  await expect(append('deletes', 'none')).rejects.toThrow('there is no conflict');
});

it('refuses tables that were made on both sides, or removed on one', async () => {
  await make('kept');
  await branch('apart');
  for (const ref of ['main', 'apart']) {
    await catalog.send('POST', `/r.lake.${ref}/namespaces/db/tables`, { name: 'both', schema });
  }
  await catalog.send('DELETE', tableAt('apart', 'kept'));
  await snapshot('main', 'kept', { id: 22, parent: 1, manifests: [manifest(22), manifest(1)] });
  for (const ref of ['main', 'apart']) await catalog.commit(ref);
  await expect(append('apart', 'both')).rejects.toThrow('each side created a table of its own');
  await expect(append('apart', 'kept')).rejects.toThrow('one side removed it');
});
