import { expect, test } from 'vitest';
import { acceptOnStore, cloudStores } from './accept-on-store.ts';

/** What the long run does with all suites: objects, uploads in parts and imports over every protocol. */
const suites = [
  'packages/api/test/objects.test.ts',
  'packages/engine/test/imports.test.ts',
  'packages/engine/test/uploads.test.ts',
  'packages/gateway/test/objects.test.ts',
  'packages/gateway/test/copies.test.ts',
];

test.each(['Azurite', 'fake-gcs-server'])('objects, uploads and imports on %s', async (server) => {
  const store = await cloudStores[server]?.();
  if (store !== undefined) await acceptOnStore(store, suites);
});

test('a store that is not there fails the suites', async () => {
  const nobody = {
    config: { type: 'gs', endpoint: 'http://127.0.0.1:1', maxRetries: 0 },
    place: 'gs://x',
  } as const;
  await expect(acceptOnStore(nobody, ['packages/api/test/objects.test.ts'])).rejects.toThrow(
    'expected 503 to be 201',
  );
});
