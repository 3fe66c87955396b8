import { badRequest, commitFailed } from '../errors/iceberg-error.ts';
import { sameJson, type Json, type JsonObject } from '../json.ts';
import {
  idIn,
  intIn,
  listIn,
  objectIn,
  objectsIn,
  optionalInt,
  stringMapIn,
  textIn,
  textsOf,
  type Id,
} from '../request/fields.ts';
import { fieldIds, highestFieldId, schemaIn } from './schema-ids.ts';
import {
  newestFormat,
  type Schema,
  type Snapshot,
  type SnapshotRef,
  type TableMetadata,
} from './table-metadata.ts';

/** The change of one table, update after update. */
interface Change {
  /** A copy whose lists and maps are replaced, never changed. */
  readonly table: TableMetadata;
  readonly now: number;
  readonly isNew: boolean;
  /** What `-1` stands for. */
  readonly lastAdded: { schema?: number; spec?: number; order?: number };
  readonly addedSnapshots: Map<Id, Snapshot>;
  /** Throws unless the location lies in the repository. */
  readonly checkLocation: (location: string) => void;
}

type Apply = (change: Change, update: JsonObject) => void;

const byAction: Readonly<Record<string, Apply>> = {
  'assign-uuid': ({ table, isNew }, update) => {
    const uuid = textIn(update, 'uuid');
    if (!isNew && uuid.toLowerCase() !== table['table-uuid'].toLowerCase()) {
      throw badRequest('a table keeps its UUID');
    }
    table['table-uuid'] = uuid;
  },
  'upgrade-format-version': ({ table, isNew }, update) => {
    const version = intIn(update, 'format-version');
    if (version < 2 || version > newestFormat) throw badRequest(`format version ${version} is not supported`);
    if (version < table['format-version'] && !isNew) throw badRequest('the format version cannot go back');
    table['format-version'] = version;
    if (version >= 3) table['next-row-id'] ??= 0;
  },
  'add-schema': addSchema,
  'set-current-schema': ({ table, lastAdded }, update) => {
    table['current-schema-id'] = chosen(update, 'schema-id', lastAdded.schema, (id) =>
      table.schemas.some((schema) => schema['schema-id'] === id),
    );
  },
  'add-spec': addSpec,
  'set-default-spec': ({ table, lastAdded }, update) => {
    table['default-spec-id'] = chosen(update, 'spec-id', lastAdded.spec, (id) =>
      table['partition-specs'].some((spec) => spec['spec-id'] === id),
    );
  },
  'add-sort-order': addSortOrder,
  'set-default-sort-order': ({ table, lastAdded }, update) => {
    table['default-sort-order-id'] = chosen(update, 'sort-order-id', lastAdded.order, (id) =>
      table['sort-orders'].some((order) => order['order-id'] === id),
    );
  },
  'add-snapshot': addSnapshot,
  'set-snapshot-ref': setSnapshotRef,
  'remove-snapshot-ref': ({ table }, update) =>
    removeRefs(table, (name) => name === textIn(update, 'ref-name')),
  'remove-snapshots': removeSnapshots,
  'set-location': ({ table, checkLocation }, update) => {
    const location = textIn(update, 'location');
    checkLocation(location);
    table.location = location;
  },
  'set-properties': ({ table }, update) => {
    table.properties = { ...table.properties, ...stringMapIn(update, 'updates') };
  },
  'remove-properties': ({ table }, update) => {
    const removed = new Set(textsOf(update['removals'], 'removals'));
    table.properties = Object.fromEntries(
      Object.entries(table.properties).filter(([name]) => !removed.has(name)),
    );
  },
  'set-statistics': ({ table }, update) => {
    const statistics = objectIn(update, 'statistics');
    table.statistics = [...without(table.statistics, idIn(statistics, 'snapshot-id')), statistics];
  },
  'remove-statistics': ({ table }, update) => {
    table.statistics = without(table.statistics, idIn(update, 'snapshot-id'));
  },
  'set-partition-statistics': ({ table }, update) => {
    const statistics = objectIn(update, 'partition-statistics');
    const others = without(table['partition-statistics'], idIn(statistics, 'snapshot-id'));
    table['partition-statistics'] = [...others, statistics];
  },
  'remove-partition-statistics': ({ table }, update) => {
    table['partition-statistics'] = without(table['partition-statistics'], idIn(update, 'snapshot-id'));
  },
  'remove-partition-specs': ({ table }, update) => {
    const removed = listIn(update, 'spec-ids');
    if (removed.includes(table['default-spec-id']))
      throw badRequest('the default partition spec cannot be removed');
    table['partition-specs'] = table['partition-specs'].filter((spec) => !removed.includes(spec['spec-id']));
  },
  'remove-schemas': ({ table }, update) => {
    const removed = listIn(update, 'schema-ids');
    if (removed.includes(table['current-schema-id']))
      throw badRequest('the current schema cannot be removed');
    table.schemas = table.schemas.filter((schema) => !removed.includes(schema['schema-id']));
  },
  'add-encryption-key': ({ table }, update) => {
    const key = objectIn(update, 'encryption-key');
    const id = textIn(key, 'key-id');
    const others = (table['encryption-keys'] ?? []).filter((other) => other['key-id'] !== id);
    table['encryption-keys'] = [...others, key];
  },
  'remove-encryption-key': ({ table }, update) => {
    const id = textIn(update, 'key-id');
    table['encryption-keys'] = (table['encryption-keys'] ?? []).filter((key) => key['key-id'] !== id);
  },
};

export interface ApplyOptions {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The table is being made: it may get a UUID and any format version. */
  readonly isNew: boolean;
  readonly checkLocation: (location: string) => void;
}

/** The table after the updates; the given one stays as it is. */
export function applyUpdates(
  before: TableMetadata,
  updates: readonly JsonObject[],
  options: ApplyOptions,
): TableMetadata {
  const table = { ...before };
  const change: Change = { ...options, table, lastAdded: {}, addedSnapshots: new Map() };
  for (const update of updates) {
    const action = textIn(update, 'action');
    const apply = Object.hasOwn(byAction, action) ? byAction[action] : undefined;
    if (apply === undefined) throw badRequest(`unknown update ${JSON.stringify(action)}`);
    apply(change, update);
  }
  table['snapshot-log'] = withoutPassed(change, before['snapshot-log'].length);
  table['last-updated-ms'] = Math.max(options.now, before['last-updated-ms']);
  checkWhole(table);
  return table;
}

function checkWhole(table: TableMetadata): void {
  if (table.location === '') throw badRequest('the table has no location');
  const lacks = (what: string): never => {
    throw badRequest(`the table has no ${what}`);
  };
  if (!table.schemas.some((schema) => schema['schema-id'] === table['current-schema-id'])) lacks('schema');
  if (!table['partition-specs'].some((spec) => spec['spec-id'] === table['default-spec-id'])) {
    lacks('default partition spec');
  }
  if (!table['sort-orders'].some((order) => order['order-id'] === table['default-sort-order-id'])) {
    lacks('default sort order');
  }
}

/** An id that exists; -1 is the one added last. */
function chosen(
  update: JsonObject,
  name: string,
  last: number | undefined,
  exists: (id: number) => boolean,
): number {
  const given = intIn(update, name);
  const id = given === -1 ? last : given;
  if (id === undefined) throw badRequest(`${name}: -1 means what this commit adds, and it adds none`);
  if (!exists(id)) throw badRequest(`${name}: there is no ${id}`);
  return id;
}

function addSchema({ table, lastAdded }: Change, update: JsonObject): void {
  const schema = schemaIn(update);
  fieldIds(schema);
  const content = ({ 'schema-id': _id, ...rest }: JsonObject): JsonObject => ({
    ...rest,
    type: 'struct',
    'identifier-field-ids': rest['identifier-field-ids'] ?? [],
  });
  const known = table.schemas.find((other) => sameJson(content(other), content(schema)));
  const id = known?.['schema-id'] ?? nextId(table.schemas, 'schema-id', 0);
  if (known === undefined) {
    table.schemas = [...table.schemas, { ...schema, type: 'struct', 'schema-id': id } as unknown as Schema];
  }
  lastAdded.schema = id;
  table['last-column-id'] = Math.max(
    table['last-column-id'],
    highestFieldId(schema),
    optionalInt(update, 'last-column-id') ?? 0,
  );
}

function addSpec({ table, lastAdded }: Change, update: JsonObject): void {
  const spec = objectIn(update, 'spec');
  let last = table['last-partition-id'];
  const known = new Map<string, number>();
  for (const other of table['partition-specs']) {
    for (const field of other.fields) known.set(sourceAndTransform(field), intIn(field, 'field-id'));
  }
  const fields = objectsIn(spec, 'fields').map((field) => {
    textIn(field, 'name');
    // A field that another spec has keeps its number: readers match them by it.
    const id = optionalInt(field, 'field-id') ?? known.get(sourceAndTransform(field)) ?? ++last;
    last = Math.max(last, id);
    return { ...field, 'field-id': id };
  });
  const same = table['partition-specs'].find((other) => sameJson(other.fields, fields));
  const id = same?.['spec-id'] ?? nextId(table['partition-specs'], 'spec-id', 0);
  if (same === undefined) table['partition-specs'] = [...table['partition-specs'], { 'spec-id': id, fields }];
  lastAdded.spec = id;
  table['last-partition-id'] = last;
}

function sourceAndTransform(field: JsonObject): string {
  const { 'source-id': one, 'source-ids': many, transform } = field;
  return JSON.stringify([one ?? many ?? null, textIn({ transform }, 'transform')]);
}

function addSortOrder({ table, lastAdded }: Change, update: JsonObject): void {
  const { fields: given } = objectIn(update, 'sort-order');
  const fields = objectsIn({ fields: given }, 'fields');
  const same = table['sort-orders'].find((other) => sameJson(other.fields, fields));
  // 0 is kept for no order at all.
  const fresh = fields.length === 0 ? 0 : nextId(table['sort-orders'], 'order-id', 1);
  const id = same?.['order-id'] ?? fresh;
  if (same === undefined) table['sort-orders'] = [...table['sort-orders'], { 'order-id': id, fields }];
  lastAdded.order = id;
}

function nextId(items: readonly JsonObject[], name: string, first: number): number {
  return items.reduce((next, item) => Math.max(next, intIn(item, name) + 1), first);
}

function addSnapshot({ table, addedSnapshots }: Change, update: JsonObject): void {
  const snapshot = objectIn(update, 'snapshot') as Snapshot;
  const id = idIn(snapshot, 'snapshot-id');
  intIn(snapshot, 'timestamp-ms');
  textIn(snapshot, 'manifest-list');
  if (table.snapshots.some((other) => other['snapshot-id'] === id))
    throw badRequest(`snapshot ${id} is there already`);
  const sequence = idIn(snapshot, 'sequence-number');
  const parent = snapshot['parent-snapshot-id'];
  const hasParent = parent !== undefined && parent !== null;
  if (hasParent && sequence <= table['last-sequence-number']) {
    throw commitFailed(
      `the table has moved on: sequence number ${sequence} is not above ${table['last-sequence-number']}`,
    );
  }
  if (table['format-version'] >= 3) addRows(table, snapshot);
  table.snapshots = [...table.snapshots, snapshot];
  if (sequence > table['last-sequence-number']) table['last-sequence-number'] = sequence;
  addedSnapshots.set(id, snapshot);
}

/** From version 3 on each row has an id: a snapshot begins where the last one ended. */
function addRows(table: TableMetadata, snapshot: Snapshot): void {
  const next = table['next-row-id'] ?? 0;
  const first = idIn(snapshot, 'first-row-id');
  if (first < next) throw commitFailed(`the table has moved on: first-row-id ${first} is below ${next}`);
  table['next-row-id'] = plain(BigInt(next) + BigInt(idIn(snapshot, 'added-rows')));
}

function plain(value: bigint): Id {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function setSnapshotRef({ table, now, addedSnapshots }: Change, update: JsonObject): void {
  const { action: _action, 'ref-name': _name, ...ref } = update;
  const name = textIn(update, 'ref-name');
  const id = idIn(update, 'snapshot-id');
  if (ref['type'] !== 'branch' && ref['type'] !== 'tag') throw badRequest('type must be branch or tag');
  if (name === 'main' && ref['type'] !== 'branch') throw badRequest('main must be a branch');
  if (!table.snapshots.some((snapshot) => snapshot['snapshot-id'] === id)) {
    throw badRequest(`there is no snapshot ${id}`);
  }
  const set = Object.fromEntries(Object.entries(ref).filter(([, value]) => value !== null)) as SnapshotRef;
  table.refs = { ...table.refs, [name]: set };
  if (name !== 'main' || table['current-snapshot-id'] === id) return;
  table['current-snapshot-id'] = id;
  const time = addedSnapshots.get(id)?.['timestamp-ms'] ?? now;
  table['snapshot-log'] = [...table['snapshot-log'], { 'snapshot-id': id, 'timestamp-ms': time }];
}

function removeRefs(table: TableMetadata, isRemoved: (name: string, ref: SnapshotRef) => boolean): void {
  const kept = Object.entries(table.refs).filter(([name, ref]) => !isRemoved(name, ref));
  table.refs = Object.fromEntries(kept);
  if (!Object.hasOwn(table.refs, 'main')) delete table['current-snapshot-id'];
}

function removeSnapshots({ table }: Change, update: JsonObject): void {
  const removed: ReadonlySet<Json> = new Set(listIn(update, 'snapshot-ids'));
  const isRemoved = (item: JsonObject): boolean => removed.has(item['snapshot-id'] ?? null);
  table.snapshots = table.snapshots.filter((snapshot) => !isRemoved(snapshot));
  table.statistics = table.statistics.filter((item) => !isRemoved(item));
  table['partition-statistics'] = table['partition-statistics'].filter((item) => !isRemoved(item));
  // Before a gap nobody can say any more which snapshot was current.
  table['snapshot-log'] = table['snapshot-log'].slice(table['snapshot-log'].findLastIndex(isRemoved) + 1);
  removeRefs(table, (_name, ref) => isRemoved(ref));
}

/** Snapshots that were current only in the middle of this change never were for anybody. */
function withoutPassed({ table, addedSnapshots }: Change, logged: number): JsonObject[] {
  const current = table['current-snapshot-id'];
  return table['snapshot-log'].filter(
    (entry, at) =>
      at < logged || entry['snapshot-id'] === current || !addedSnapshots.has(idIn(entry, 'snapshot-id')),
  );
}

function without(items: readonly JsonObject[], snapshot: Id): JsonObject[] {
  return items.filter((item) => item['snapshot-id'] !== snapshot);
}
