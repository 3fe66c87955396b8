import type { OwnedChange, OwnedWrite } from '../../arguments.ts';
import { encode } from './base32hex.ts';
import { documentId, isPossible, storedDocument, versionOf, type StoredDocument } from './documents.ts';

/** One operation of a transactional batch. `role` says what it means when it cannot be done. */
export interface Operation {
  readonly role: 'guard' | 'create' | 'delete' | 'write';
  readonly wire: {
    readonly operationType: 'Create' | 'Upsert' | 'Replace' | 'Delete' | 'Read';
    readonly id?: string;
    readonly ifMatch?: string;
    readonly resourceBody?: StoredDocument;
  };
}

export function upsert(document: StoredDocument): Operation {
  return { role: 'write', wire: { operationType: 'Upsert', resourceBody: document } };
}

export function removal(id: string): Operation {
  return { role: 'delete', wire: { operationType: 'Delete', id } };
}

/** The operations of a change, or undefined when its guard can never hold. */
export function planOperations(change: OwnedChange, partition: string): Operation[] | undefined {
  const { guard, guarded } = change;
  const operations: Operation[] = [];
  const others = [...change.others];
  if (guard.condition === 'any') {
    if (guarded !== undefined) others.push(guarded);
  } else {
    const guarding = guardOperation(change, partition);
    if (guarding === undefined) return undefined;
    operations.push(guarding);
  }
  for (const write of others) {
    if (isPossible(change.partition, write.key)) operations.push(operationOf(write, partition));
  }
  return operations;
}

function operationOf(write: OwnedWrite, partition: string): Operation {
  if (write.type === 'delete') return removal(documentId(write.key));
  const resourceBody = storedDocument(partition, write.key, write.value);
  return write.type === 'put'
    ? upsert(resourceBody)
    : { role: 'create', wire: { operationType: 'Create', resourceBody } };
}

function guardOperation(change: OwnedChange, partition: string): Operation | undefined {
  const { guard, guarded } = change;
  const { condition, key } = guard;
  const id = documentId(key);
  if (condition === 'absent') {
    if (guarded === undefined || guarded.type === 'delete') return undefined;
    const resourceBody = storedDocument(partition, key, guarded.value);
    return { role: 'guard', wire: { operationType: 'Create', resourceBody } };
  }
  const version = typeof condition === 'string' ? undefined : versionOf(condition);
  if (typeof condition !== 'string' && version === undefined) return undefined;
  const match = version === undefined ? {} : { ifMatch: version.etag };
  if (guarded?.type === 'delete') return { role: 'guard', wire: { operationType: 'Delete', id, ...match } };
  if (guarded?.type === 'put') {
    const resourceBody = storedDocument(partition, key, guarded.value);
    return { role: 'guard', wire: { operationType: 'Replace', id, resourceBody, ...match } };
  }
  // A guarded key is present: creating it is left out. Only a write can be tied to a version, so it is written as it is.
  if (version === undefined) return { role: 'guard', wire: { operationType: 'Read', id } };
  const resourceBody = { partitionKey: partition, id, key: encode(key), value: version.value };
  return { role: 'guard', wire: { operationType: 'Replace', id, resourceBody, ...match } };
}
