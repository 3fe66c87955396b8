import { randomUUID } from 'node:crypto';
import { and } from '@svc/auth';
import type { Answer, Call } from '../call.ts';
import { badRequest, commitFailed } from '../errors/iceberg-error.ts';
import { assertsCreate, checkRequirements } from '../metadata/requirements.ts';
import { emptyMetadata } from '../metadata/table-metadata.ts';
import { applyUpdates } from '../metadata/updates.ts';
import { objectsIn } from '../request/fields.ts';
import { pathOf } from './locations.ts';
import { requireNamespace } from './namespaces.ts';
import { levelsOf, openForWriting, placeOfTables } from './place.ts';
import { findTable, noSuchTable, onTable, writeTable } from './table-records.ts';

/** Writers that come in between, one after the other, before this one gives up. */
const attempts = 10;

/**
 * Changes a table when it is what the writer started from. The pointer is written by compare-and-set: whoever comes
 * second looks again, and is refused only if what they rely on has changed.
 */
export async function commitTable(call: Call): Promise<Answer> {
  const place = placeOfTables(call, levelsOf(call.params['namespace'] ?? ''));
  const name = call.params['table'] ?? '';
  const requirements = objectsIn(call.body, 'requirements');
  const updates = objectsIn(call.body, 'updates');
  await call.ensure(and(onTable('fs:ReadObject', place, name), onTable('fs:WriteObject', place, name)));
  const open = await openForWriting(call, place);
  const creates = assertsCreate(requirements);
  if (creates) await requireNamespace(call, open);
  for (let attempt = 0; attempt < attempts; attempt++) {
    const before = await findTable(call, open, name);
    if (before === undefined && !creates) throw noSuchTable(place, name);
    checkRequirements(before?.metadata, requirements);
    if (before !== undefined && updates.length === 0) return answer(before);
    const metadata = applyUpdates(before?.metadata ?? emptyMetadata(randomUUID()), updates, {
      now: call.services.now(),
      isNew: before === undefined,
      checkLocation: (location) => {
        if (location.endsWith('/')) throw badRequest('location must not end with "/"');
        pathOf(place.repository, location);
      },
    });
    const table = await writeTable(call, open, { name, metadata, before });
    if (table !== undefined) return answer(table);
  }
  throw commitFailed('the table is being changed by others; try again');
}

function answer({ metadataLocation, metadata }: { metadataLocation: string; metadata: object }): Answer {
  return { status: 200, body: { 'metadata-location': metadataLocation, metadata } };
}
