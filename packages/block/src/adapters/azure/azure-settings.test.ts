import { describe, expect, it } from 'vitest';
import type { ObjectPointer } from '../../adapter.ts';
import type { AzureStoreConfig } from '../../config.ts';
import { AzureAdapter } from './azure-adapter.ts';

const at = (storageNamespace: string, identifier: string): ObjectPointer => ({
  storageNamespace,
  identifier,
  identifierType: 'relative',
});

describe('azure settings', () => {
  it('are checked when the store is opened', () => {
    const open = (config: Partial<AzureStoreConfig>) => () => new AzureAdapter({ type: 'azure', ...config });
    expect(open({ storageAccessKey: 'YWJj' })).toThrow('needs azure.storage_account');
    expect(open({ storageAccount: 'a', storageAccessKey: 'no base64!' })).toThrow('is not base64');
    expect(open({ testEndpointUrl: 'nowhere' })).toThrow('azure.test_endpoint_url');
  });

  it('know the domains of other clouds', () => {
    const adapter = new AzureAdapter({ type: 'azure', domain: 'blob.core.chinacloudapi.cn' });
    const here = 'https://acc.blob.core.chinacloudapi.cn/c/p';
    expect(() => adapter.validateNamespace(here)).not.toThrow();
    expect(() => adapter.validateNamespace('https://acc.blob.core.windows.net/c/p')).toThrow('another cloud');
    expect(() => adapter.validateNamespace('https://acc.blob.core.chinacloudapi.cn')).toThrow('no container');
    expect(() => adapter.validateNamespace('https://a.b.blob.core.chinacloudapi.cn/c')).toThrow(
      'another cloud',
    );
    expect(adapter.absoluteUri(at(here, 'x'))).toBe(`${here}/x`);
    expect(adapter.info.namespaceExample).toBe(
      'https://mystorageaccount.blob.core.chinacloudapi.cn/mycontainer/',
    );
  });
});
