import { randomUUID } from 'node:crypto';
import { badRequest } from '../errors/iceberg-error.ts';
import type { JsonObject } from '../json.ts';
import { objectIn, stringMapIn } from '../request/fields.ts';
import { schemaIn, withFreshIds, withSources } from './schema-ids.ts';
import { emptyMetadata, type TableMetadata } from './table-metadata.ts';
import { applyUpdates } from './updates.ts';

/** The first metadata of a table, from the body of a request that creates it. */
export function newTable(body: JsonObject, location: string, now: number): TableMetadata {
  const { 'format-version': version = '2', ...properties } = stringMapIn(body, 'properties');
  if (version !== '2' && version !== '3') {
    throw badRequest(`format-version must be 2 or 3, not ${JSON.stringify(version)}`);
  }
  const { schema, lastColumnId, ids } = withFreshIds(schemaIn(body));
  const spec = withoutIds(withSources(optional(body, 'partition-spec'), ids));
  const order = withSources(optional(body, 'write-order'), ids);
  const updates: JsonObject[] = [
    { action: 'upgrade-format-version', 'format-version': Number(version) },
    { action: 'add-schema', schema, 'last-column-id': lastColumnId },
    { action: 'set-current-schema', 'schema-id': -1 },
    { action: 'add-spec', spec },
    { action: 'set-default-spec', 'spec-id': -1 },
    { action: 'add-sort-order', 'sort-order': order },
    { action: 'set-default-sort-order', 'sort-order-id': -1 },
    { action: 'set-location', location },
    { action: 'set-properties', updates: properties },
  ];
  return applyUpdates(emptyMetadata(randomUUID()), updates, { now, isNew: true, checkLocation: () => {} });
}

function optional(body: JsonObject, name: string): JsonObject {
  return body[name] === undefined || body[name] === null ? { fields: [] } : objectIn(body, name);
}

/** Partition fields of a new table are numbered from the start, whatever the caller calls them. */
function withoutIds(spec: JsonObject): JsonObject {
  const fields = (spec['fields'] as JsonObject[]).map(({ 'field-id': _id, ...field }) => field);
  return { fields };
}
