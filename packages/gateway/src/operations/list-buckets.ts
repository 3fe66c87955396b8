import { arn } from '@svc/auth';
import type { Timestamp } from '@svc/encoding';
import type { Page as EnginePage, Repository } from '@svc/engine';
import type { ServiceCall } from '../call.ts';
import { S3Error } from '../errors/s3-error.ts';
import { document, element } from '../xml/write.ts';
import { xmlTime } from './entry-headers.ts';
import { integerParameter } from './integer-parameter.ts';
import { decodeToken, encodeToken } from './listing-text.ts';
import { person } from './person.ts';

const pageSize = 1000;

interface ListedBucket {
  readonly name: string;
  readonly created: Timestamp;
}

interface Range {
  readonly prefix: string | undefined;
  readonly after: string | undefined;
}

/** One more than the limit, where there are so many: it tells that the list goes on. */
async function upTo<T>(
  limit: number,
  read: (more: { after?: string; amount: number }) => Promise<EnginePage<T>>,
): Promise<T[]> {
  const items: T[] = [];
  let more: { after?: string } = {};
  for (;;) {
    const page = await read({ ...more, amount: Math.min(pageSize, limit + 1 - items.length) });
    items.push(...page.items);
    if (!page.hasMore || items.length > limit) return items;
    more = { after: page.nextOffset };
  }
}

/** A key that is bound to a bucket knows no other. */
async function ownBucket(call: ServiceCall, { prefix = '', after = '' }: Range): Promise<ListedBucket[]> {
  const own = await boundBucket(call);
  return own.name.startsWith(prefix) && own.name > after ? [own] : [];
}

async function boundBucket({ services, identity }: ServiceCall): Promise<ListedBucket> {
  const { repositories, bindings } = services.engine;
  if (identity.view !== undefined) {
    const { creationDate } = await repositories.get(identity.view.repository);
    return { name: identity.view.bucket, created: creationDate };
  }
  const view = await bindings.getView(identity.accessKeyId ?? '');
  if (view === undefined) throw new S3Error('AccessDenied');
  return { name: view.bucket, created: view.createdAt };
}

const maxBuckets = 10_000;

/** Every repository the user may see, in order; not cut at a page unless the client asks. */
export async function listBuckets(call: ServiceCall): Promise<void> {
  const { request, services, identity } = call;
  const { query } = request;
  const prefix = query.text('prefix');
  const token = query.text('continuation-token');
  const limit = integerParameter(query, { name: 'max-buckets', absent: Infinity, min: 1, max: maxBuckets });
  const region = query.text('bucket-region');
  const permissions = await services.auth.permissionsOf(identity, call.client);
  const visible = (repository: Repository): boolean =>
    !permissions.isDenied('fs:ListRepositories', arn.repository(repository.id));
  const visibleAlias = (name: string, repository: string): boolean =>
    !permissions.isDenied('fs:ReadAlias', arn.alias(name)) &&
    !permissions.isDenied('fs:ListRepositories', arn.repository(repository));
  const isHere = region === undefined || region === services.region;
  const start = token === undefined ? undefined : decodeToken(token);
  const { repositories, bindings } = services.engine;
  const range = { prefix, after: start };
  const found = !isHere
    ? []
    : identity.hasView === true
      ? await ownBucket(call, range)
      : [
          ...(await upTo(limit, (more) => repositories.list({ ...range, ...more, visible }))).map(
            ({ id, creationDate }) => ({ name: id, created: creationDate }),
          ),
          ...(
            await upTo(limit, (more) => bindings.listAliases({ ...range, ...more, visible: visibleAlias }))
          ).map(({ bucket, createdAt }) => ({ name: bucket, created: createdAt })),
        ].sort((one, other) => (one.name < other.name ? -1 : 1));
  const shown = found.slice(0, limit);
  const hasMore = shown.length < found.length;
  const after = shown.at(-1)?.name;
  const buckets = shown
    .map(
      ({ name, created }) =>
        `<Bucket>${element('Name', name)}${element('CreationDate', xmlTime(created))}` +
        `${element('BucketRegion', services.region)}</Bucket>`,
    )
    .join('');
  call.reply.xml(
    200,
    document(
      'ListAllMyBucketsResult',
      `${person('Owner', identity.user.username)}<Buckets>${buckets}</Buckets>` +
        element('Prefix', prefix) +
        element('ContinuationToken', hasMore && after !== undefined ? encodeToken(after) : undefined),
    ),
  );
}
