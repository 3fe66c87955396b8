import { arn } from '@svc/auth';
import type { Repository } from '@svc/engine';
import type { ServiceCall } from '../call.ts';
import { document, element } from '../xml/write.ts';
import { xmlTime } from './entry-headers.ts';
import { integerParameter } from './integer-parameter.ts';
import { decodeToken, encodeToken } from './listing-text.ts';
import { person } from './person.ts';

const pageSize = 1000;
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
  let buckets = '';
  let count = 0;
  let after = token === undefined ? undefined : decodeToken(token);
  let hasMore = region === undefined || region === services.region;
  while (hasMore && count < limit) {
    const page = await services.engine.repositories.list({
      prefix,
      after,
      amount: Math.min(pageSize, limit - count),
      visible,
    });
    for (const repository of page.items)
      buckets +=
        `<Bucket>${element('Name', repository.id)}${element('CreationDate', xmlTime(repository.creationDate))}` +
        `${element('BucketRegion', services.region)}</Bucket>`;
    count += page.items.length;
    hasMore = page.hasMore;
    after = page.nextOffset;
  }
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
