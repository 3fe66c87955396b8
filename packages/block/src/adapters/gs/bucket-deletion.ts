import { sigV4Encode } from '@svc/encoding';
import type { StoreDeletion } from '../../adapter.ts';
import { resolveBucketPrefix } from '../../address.ts';
import { BlockError } from '../../errors.ts';
import type { GsClient } from './client.ts';

interface BucketPolicies {
  readonly versioning?: { readonly enabled?: boolean };
  readonly softDeletePolicy?: { readonly retentionDurationSeconds?: string };
}

/** Whether the bucket keeps versions or deleted objects; a refusal tells nothing. */
export async function bucketDeletion(client: GsClient, storageNamespace: string): Promise<StoreDeletion> {
  const target = resolveBucketPrefix('gs', storageNamespace);
  try {
    const response = await client.send({
      method: 'GET',
      target,
      path: `/storage/v1/b/${sigV4Encode(target.bucket, 'encode')}`,
      query: [['fields', 'versioning,softDeletePolicy']],
      access: 'read',
    });
    const { versioning, softDeletePolicy } = (await response.body.json()) as BucketPolicies;
    if (versioning?.enabled === true) return 'versioned';
    return Number(softDeletePolicy?.retentionDurationSeconds ?? 0) > 0 ? 'soft' : 'final';
  } catch (error) {
    if (error instanceof BlockError) return 'unknown';
    throw error;
  }
}
