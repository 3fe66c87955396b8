import { randomBytes } from 'node:crypto';
import type { Call } from '../call.ts';
import { badRequest } from '../errors/iceberg-error.ts';
import { folderOf, type OpenPlace } from './place.ts';

/**
 * Locations name the repository as the bucket, and no ref: the keys that clients are given show the ref they asked for
 * there, so that the same metadata is right on every branch, tag and commit.
 */
export function locationOf(repository: string, path: string): string {
  return `s3://${repository}/${path}`;
}

/** The path of a location in the tree. Refuses those outside of the repository. */
export function pathOf(repository: string, location: string): string {
  const [, bucket, path = ''] = /^s3[an]?:\/\/([^/]+)\/(.*)$/s.exec(location) ?? [];
  const trimmed = path.replace(/\/+$/, '');
  const isPlain = trimmed !== '' && !trimmed.split('/').some((part) => ['', '.', '..'].includes(part));
  if (bucket === repository && isPlain) return trimmed;
  throw badRequest(
    `location ${JSON.stringify(location)} must be a folder of the repository, without a ref: s3://${repository}/<path>`,
  );
}

/** Where a new table goes: a folder of its name, beside what is there already. */
export async function freeLocation(call: Call, place: OpenPlace, name: string): Promise<string> {
  const path = `${folderOf(place.levels)}${name}`;
  const { repository, shown } = place;
  const page = await call.services.engine.objects.list({
    repository,
    ref: shown,
    prefix: `${path}/`,
    amount: 1,
  });
  const isFree = page.count === 0;
  page.release();
  return locationOf(repository, isFree ? path : `${path}-${randomBytes(4).toString('hex')}`);
}
