import { describe, expect, it } from 'vitest';
import type { GsStoreConfig } from '../../config.ts';
import { openGsAdapter } from './gs-adapter.ts';

describe('gs settings', () => {
  it('are checked when the store is opened', async () => {
    const open = (config: Partial<GsStoreConfig>) =>
      openGsAdapter({ type: 'gs', endpoint: 'http://x', ...config });
    await expect(open({ serverSideEncryptionCustomerSupplied: 'abc' })).rejects.toThrow(
      '64 hexadecimal digits',
    );
    await expect(
      open({ serverSideEncryptionCustomerSupplied: 'ab'.repeat(32), serverSideEncryptionKmsKeyId: 'k' }),
    ).rejects.toThrow('exclude each other');
    await expect(open({ endpoint: 'http://' })).rejects.toThrow('is not a host or URL');
  });
});
