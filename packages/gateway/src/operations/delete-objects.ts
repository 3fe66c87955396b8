import { arn, one } from '@svc/auth';
import { EngineError } from '@svc/engine';
import type { Call } from '../call.ts';
import { S3Error } from '../errors/s3-error.ts';
import { toS3Error } from '../errors/to-s3-error.ts';
import { unquote } from '../request/conditions.ts';
import { childText, parseXml } from '../xml/parse.ts';
import { document, element } from '../xml/write.ts';
import { isBranchName } from './write-conditions.ts';

const maxDocument = 2 * 1024 * 1024;
const maxObjects = 1000;
const maxPath = 1024;

interface Item {
  /** As the client wrote it. */
  readonly key: string;
  readonly branch: string;
  readonly path: string;
  readonly etag: string | undefined;
  failure?: S3Error;
}

/** Deletes keys of any branches; one key's failure never touches the others. */
export async function deleteObjects(call: Call): Promise<void> {
  const root = parseXml(await call.body.readDocument(maxDocument), 'Delete');
  const quiet = /^\s*(?:true|1)\s*$/i.test(childText(root, 'Quiet') ?? '');
  const listed = root.children.filter((child) => child.name === 'Object');
  if (listed.length === 0 || listed.length > maxObjects) throw new S3Error('MalformedXML');
  const permissions = await call.services.auth.permissionsOf(call.identity, call.client);
  const items: Item[] = [];
  const batches = new Map<string, Item[]>();
  let mayDelete = false;
  for (const object of listed) {
    const key = childText(object, 'Key');
    if (key === undefined) throw new S3Error('MalformedXML');
    const item = readItem(call, key, childText(object, 'ETag'));
    items.push(item);
    if (item.path === '') continue;
    const version = childText(object, 'VersionId');
    const requirement = one('fs:DeleteObject', arn.object(call.repository.id, item.path));
    const { allowed } = permissions.check(requirement);
    if (allowed) call.reveal();
    mayDelete ||= allowed;
    if (!allowed) item.failure = new S3Error('AccessDenied', 'Access Denied');
    else if (version !== undefined && version !== '' && version !== 'null')
      item.failure = new S3Error('NoSuchVersion');
    else if (item.branch === '' || Buffer.byteLength(item.path) > maxPath)
      item.failure = new S3Error('InvalidArgument', 'The key is not <branch>/<path> of at most 1024 bytes.');
    else if (!isBranchName(item.branch)) continue;
    else if (item.etag !== undefined) await deleteOne(call, item, item.etag);
    else {
      const batch = batches.get(item.branch);
      if (batch === undefined) batches.set(item.branch, [item]);
      else batch.push(item);
    }
  }
  if (call.concealed && !mayDelete) throw new S3Error('AccessDenied');
  for (const [branch, batch] of batches) await deleteBatch(call, branch, batch);
  call.reply.xml(200, document('DeleteResult', items.map((item) => resultOf(item, quiet)).join('')));
}

function readItem({ bound }: Call, key: string, tag: string | undefined): Item {
  const etag = tag === undefined || tag === '' ? undefined : unquote(tag);
  if (bound !== undefined) return { key, branch: bound.ref, path: `${bound.prefix}${key}`, etag };
  const name = key.startsWith('/') ? key.slice(1) : key;
  const slash = name.indexOf('/');
  return {
    key,
    branch: slash < 0 ? name : name.slice(0, slash),
    path: slash < 0 ? '' : name.slice(slash + 1),
    etag,
  };
}

async function deleteOne(call: Call, item: Item, etag: string): Promise<void> {
  try {
    await call.services.engine.objects.delete({
      repository: call.repository.id,
      branch: item.branch,
      path: item.path,
      ifMatch: etag,
    });
  } catch (error) {
    fail([item], error);
  }
}

async function deleteBatch(call: Call, branch: string, batch: readonly Item[]): Promise<void> {
  try {
    const failures = await call.services.engine.objects.deleteMany({
      repository: call.repository.id,
      branch,
      paths: batch.map((item) => item.path),
    });
    for (const { path, error } of failures)
      fail(
        batch.filter((item) => item.path === path),
        error,
      );
  } catch (error) {
    fail(batch, error);
  }
}

function fail(items: readonly Item[], error: unknown): void {
  // A missing object counts as deleted.
  if (error instanceof EngineError && error.kind === 'not_found') return;
  for (const item of items) item.failure = toS3Error(error, 'write');
}

function resultOf(item: Item, quiet: boolean): string {
  if (item.failure === undefined) return quiet ? '' : `<Deleted>${element('Key', item.key)}</Deleted>`;
  const { code, message } = item.failure;
  return `<Error>${element('Key', item.key)}${element('Code', code)}${element('Message', message)}</Error>`;
}
