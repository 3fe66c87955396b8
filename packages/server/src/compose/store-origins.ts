import type { Config } from '../config/index.ts';

type AdapterConfig = Pick<Config['blockstore'], 's3' | 'azure' | 'gs'> & { readonly type: string };

function originsOf({ type, s3, azure, gs }: AdapterConfig): string[] {
  switch (type) {
    case 's3': {
      if (s3.disable_pre_signed || s3.disable_pre_signed_ui) return [];
      const endpoint = s3.pre_signed_endpoint === '' ? s3.endpoint : s3.pre_signed_endpoint;
      if (endpoint === '') return ['https://*.amazonaws.com'];
      const { protocol, host, origin } = new URL(endpoint);
      return s3.force_path_style ? [origin] : [origin, `${protocol}//*.${host}`];
    }
    case 'azure':
      if (azure.disable_pre_signed || azure.disable_pre_signed_ui) return [];
      return azure.test_endpoint_url === ''
        ? [`https://*.${azure.domain}`]
        : [new URL(azure.test_endpoint_url).origin];
    case 'gs':
      return gs.disable_pre_signed || gs.disable_pre_signed_ui ? [] : ['https://storage.googleapis.com'];
    default:
      return [];
  }
}

/** Object stores a browser may be sent to by pre-signed URLs. */
export function storeOrigins(config: Config): string[] {
  const stores: readonly AdapterConfig[] = [config.blockstore, ...config.blockstores.stores];
  return [...new Set(stores.flatMap(originsOf))];
}
