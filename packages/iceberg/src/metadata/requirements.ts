import { badRequest, commitFailed } from '../errors/iceberg-error.ts';
import type { JsonObject } from '../json.ts';
import { idIn, intIn, textIn } from '../request/fields.ts';
import type { TableMetadata } from './table-metadata.ts';

/** What each requirement says of a table that is there. */
const checks: Readonly<Record<string, (table: TableMetadata, wanted: JsonObject) => void>> = {
  'assert-create': () => {
    throw commitFailed('the table was created meanwhile');
  },
  'assert-table-uuid': (table, wanted) =>
    equal('the UUID', table['table-uuid'].toLowerCase(), textIn(wanted, 'uuid').toLowerCase()),
  'assert-ref-snapshot-id': (table, wanted) => {
    const name = textIn(wanted, 'ref');
    const ref = Object.hasOwn(table.refs, name) ? table.refs[name] : undefined;
    const wantsNone = wanted['snapshot-id'] === undefined || wanted['snapshot-id'] === null;
    const expected = wantsNone ? undefined : idIn(wanted, 'snapshot-id');
    equal(`the snapshot of ${JSON.stringify(name)}`, ref?.['snapshot-id'], expected);
  },
  'assert-last-assigned-field-id': (table, wanted) =>
    equal('the last field id', table['last-column-id'], intIn(wanted, 'last-assigned-field-id')),
  'assert-current-schema-id': (table, wanted) =>
    equal('the current schema', table['current-schema-id'], intIn(wanted, 'current-schema-id')),
  'assert-last-assigned-partition-id': (table, wanted) =>
    equal('the last partition id', table['last-partition-id'], intIn(wanted, 'last-assigned-partition-id')),
  'assert-default-spec-id': (table, wanted) =>
    equal('the default partition spec', table['default-spec-id'], intIn(wanted, 'default-spec-id')),
  'assert-default-sort-order-id': (table, wanted) =>
    equal('the default sort order', table['default-sort-order-id'], intIn(wanted, 'default-sort-order-id')),
};

/** Throws unless the table is what the writer started from. Undefined: there is no table. */
export function checkRequirements(
  table: TableMetadata | undefined,
  requirements: readonly JsonObject[],
): void {
  for (const wanted of requirements) {
    const type = textIn(wanted, 'type');
    const check = Object.hasOwn(checks, type) ? checks[type] : undefined;
    if (check === undefined) throw badRequest(`unknown requirement ${JSON.stringify(type)}`);
    if (table !== undefined) check(table, wanted);
    else if (type !== 'assert-create') throw commitFailed(`${type}: there is no such table`);
  }
}

export function assertsCreate(requirements: readonly JsonObject[]): boolean {
  return requirements.some(({ type }) => type === 'assert-create');
}

type Compared = string | number | bigint | undefined;

function equal(what: string, found: Compared, expected: Compared): void {
  if (found === expected) return;
  throw commitFailed(`${what} has changed: expected ${expected ?? 'none'}, found ${found ?? 'none'}`);
}
