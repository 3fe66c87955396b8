import { createHash } from 'node:crypto';
import { gcForeignMessage, timestampFromMillis, timestampToMillis } from '@svc/encoding';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import { EngineError } from '../errors.ts';
import { liesInside } from '../repositories/namespaces.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { foreignKnownKey, foreignOf, foreignPrefix, gcPartition } from './gc-keys.ts';

/** What a repository uses of other repositories' data: an address, or everything below a prefix ending in `/`. */
export interface ForeignUse {
  /** The partition of the repository that uses it. */
  readonly user: string;
  readonly key: Buffer;
  readonly uri: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Call it before anything points there. */
export async function registerForeign(
  context: EngineContext,
  scope: RepositoryScope,
  canonicalUri: string,
): Promise<void> {
  const name = createHash('sha256').update(canonicalUri).digest('hex');
  const key = Buffer.concat([foreignOf(scope.partition), Buffer.from(name)]);
  const at = timestampFromMillis(context.clock());
  await context.kv.set(gcPartition, key, gcForeignMessage.encode({ uri: canonicalUri, at }));
}

export async function* listForeign(context: EngineContext, user?: Buffer): AsyncGenerator<ForeignUse> {
  const prefix = user === undefined ? foreignPrefix : foreignOf(user);
  for await (const page of context.kv.scan(gcPartition, { prefix })) {
    for (const { key, value } of page) {
      const name = key.subarray(foreignPrefix.length, key.lastIndexOf('/')).toString();
      yield { user: name, key, ...useOf(value) };
    }
  }
}

/** The repository whose partition it is. */
export function nameOfUser(user: string): string {
  return user.slice(0, user.lastIndexOf('-'));
}

/** What a record of the register says. */
export function useOf(value: Buffer): Pick<ForeignUse, 'uri' | 'at'> {
  const { uri, at } = gcForeignMessage.decode(value);
  return { uri, at: timestampToMillis(at) };
}

/** An external collector would not know that somebody else needs an object of this repository. */
export async function checkUsedByNobodyElse(context: EngineContext, scope: RepositoryScope): Promise<void> {
  const adapter = adapterOf(context, scope);
  const namespace = await context.namespaces.canonicalNamespace(adapter, scope.repository.storageNamespace);
  const own = scope.partition.toString();
  for await (const { user, uri } of listForeign(context)) {
    const isAbove = uri.endsWith('/') && `${namespace}/`.startsWith(uri);
    if (user === own || !(isAbove || liesInside(uri, namespace))) continue;
    throw new EngineError(
      'conflict',
      `repository '${nameOfUser(user)}' refers to objects of this one: use the built-in collector`,
      { subject: 'repository' },
    );
  }
}

/** When its records are gone nothing can point anywhere any more. */
export async function forgetForeign(context: EngineContext, scope: RepositoryScope): Promise<void> {
  for await (const { key } of listForeign(context, scope.partition)) {
    await context.kv.delete(gcPartition, key);
  }
}

/** Everything the repository uses of others is in the register, and will be. */
export async function noteForeignKnown(context: EngineContext, scope: RepositoryScope): Promise<void> {
  await context.kv.set(scope.partition, foreignKnownKey, Buffer.alloc(0));
}

/** Trees of unknown content came in. */
export async function noteForeignUnknown(context: EngineContext, scope: RepositoryScope): Promise<void> {
  await context.kv.delete(scope.partition, foreignKnownKey);
}
