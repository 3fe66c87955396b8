import { testServerOrSkip } from '@svc/testing';
import { expect, test } from 'vitest';
import type { BlockAdapter, CompletedPart } from '../src/adapter.ts';
import { openAzureAdapter } from '../src/adapters/azure/index.ts';
import { openGsAdapter } from '../src/adapters/gs/index.ts';
import { inParallel } from '../src/remote/in-parallel.ts';
import { contentOf } from '../src/suite/bodies.ts';
import { azureConfigFor, createContainer } from './test-container.ts';
import { createBucketOn, gsConfigFor } from './test-gs-bucket.ts';

/** As many as an upload may have. */
const count = 10_000;

async function uploadAll(adapter: BlockAdapter, storageNamespace: string): Promise<void> {
  const pointer = { storageNamespace, identifier: 'many', identifierType: 'relative' } as const;
  const upload = { pointer, uploadId: await adapter.createMultipart(pointer) };
  const parts: CompletedPart[] = [];
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  await inParallel(16, numbers, async (partNumber) => {
    const { etag } = await adapter.uploadPart(upload, partNumber, Buffer.from(`<${partNumber}>`));
    parts.push({ partNumber, etag });
  });
  parts.sort((a, b) => a.partNumber - b.partNumber);
  const { etag, size } = await adapter.completeMultipart(upload, parts);
  const whole = numbers.map((number) => `<${number}>`).join('');
  expect([etag.slice(32), size]).toEqual([`-${count}`, whole.length]);
  expect((await contentOf(await adapter.get(pointer))).toString() === whole).toBe(true);
  const keys = [];
  for await (const page of adapter.walk(`${storageNamespace}/`)) keys.push(...page.map((o) => o.relativeKey));
  expect(keys).toEqual(['many']);
  await adapter.close();
}

const [azurite, gcs] = [await testServerOrSkip('azurite'), await testServerOrSkip('fake-gcs')];

test.skipIf(azurite === undefined)('an upload of 10 000 parts on Azure', async () => {
  await uploadAll(await openAzureAdapter(azureConfigFor(azurite!)), await createContainer(azurite!));
});

test.skipIf(gcs === undefined)('an upload of 10 000 parts on Google Cloud Storage', async () => {
  await uploadAll(await openGsAdapter(gsConfigFor(gcs!)), `gs://${await createBucketOn(gcs!)}`);
});
