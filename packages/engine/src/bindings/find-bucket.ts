import type { BindingData } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { notFound } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { Bucket } from '../face/bindings.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { bindingAtOnce, readBinding } from './binding-store.ts';
import { shownRef } from './bound-target.ts';

/** A repository, or an alias: no name is both. */
export async function findBucket(context: EngineContext, bucket: string): Promise<Bucket> {
  const known = findBucketAtOnce(context, bucket);
  if (known !== undefined) return known;
  const alias = await readBinding(context, { type: 'alias', id: bucket });
  if (alias !== undefined) return open(context, alias);
  return { repository: (await context.repositories.open(bucket)).repository, bound: undefined };
}

/** As `findBucket`, without waiting: undefined when one must wait to know, or when there is none. */
export function findBucketAtOnce(context: EngineContext, bucket: string): Bucket | undefined {
  const known = context.repositories.openAtOnce(bucket);
  if (known !== undefined) return { repository: known.repository, bound: undefined };
  const alias = bindingAtOnce(context.kv, { type: 'alias', id: bucket });
  if (alias === undefined) return undefined;
  const scope = context.repositories.openAtOnce(alias.repository);
  return scope?.repository.instanceUid === alias.instanceUid ? bucketOf(scope, alias) : undefined;
}

/** The one bucket of an access key. */
export async function findBucketOfKey(
  context: EngineContext,
  accessKeyId: string,
  bucket: string,
): Promise<Bucket> {
  const view = await readBinding(context, { type: 'view', id: accessKeyId });
  if (view?.bucket !== bucket) {
    throw new EngineError('forbidden', 'this access key is bound to another bucket', {
      subject: 'repository',
    });
  }
  return open(context, view);
}

async function open(context: EngineContext, data: BindingData): Promise<Bucket> {
  const scope = await context.repositories.open(data.repository);
  // A namesake of the repository is not what was bound.
  if (scope.repository.instanceUid !== data.instanceUid) throw notFound('repository');
  return bucketOf(scope, data);
}

function bucketOf({ repository }: RepositoryScope, data: BindingData): Bucket {
  const { bucket, prefix, readOnly } = data;
  return { repository, bound: { bucket, prefix, readOnly, ref: shownRef(data) } };
}
