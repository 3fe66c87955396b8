import type { Call } from '../call.ts';
import { locationOf } from './locations.ts';
import type { OpenPlace } from './place.ts';

const keyDurationMs = 3_600_000;

/** What a client needs to reach the files of a table: a key that shows the ref of the request in the bucket. */
export function storageConfig(call: Call, place: OpenPlace): Record<string, string> {
  const { auth, region } = call.services;
  const { repository, instanceUid, shown, writable } = place;
  const view = {
    bucket: repository,
    repository,
    instanceUid,
    ref: shown,
    readOnly: !writable,
  };
  const key = auth.issueTemporaryKey(call.identity, view, keyDurationMs);
  return {
    's3.endpoint': call.origin,
    's3.path-style-access': 'true',
    's3.region': region,
    'client.region': region,
    's3.access-key-id': key.accessKeyId,
    's3.secret-access-key': key.secretAccessKey,
    's3.session-token': key.sessionToken,
    's3.session-token-expires-at-ms': String(key.expiresAt * 1000),
  };
}

export function storageCredentials(
  { repository }: OpenPlace,
  config: Record<string, string>,
): { prefix: string; config: Record<string, string> }[] {
  return [{ prefix: locationOf(repository, ''), config }];
}
