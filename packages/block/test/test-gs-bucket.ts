import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createGcsBucket, type GcsServer } from '@svc/testing';
import type { GsStoreConfig } from '../src/config.ts';

export function gsConfigFor(server: Pick<GcsServer, 'endpoint'>): GsStoreConfig {
  return { type: 'gs', endpoint: server.endpoint };
}

/** The key of a service account of no value. */
export const testKey = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

/** A bucket no other test uses. */
export async function createBucketOn(server: Pick<GcsServer, 'endpoint'>): Promise<string> {
  const bucket = `svc-${randomBytes(6).toString('hex')}`;
  await createGcsBucket(server, bucket);
  return bucket;
}
