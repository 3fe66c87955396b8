import type { Config } from './schema.ts';

export type StoreType = 'local' | 's3' | 'gs' | 'azure' | 'mem';

/** One block store, whichever way it was configured. */
export interface StoreSettings extends Pick<Config['blockstore'], 'local' | 's3' | 'azure' | 'gs'> {
  /** `''` in single-store mode. */
  readonly id: string;
  readonly type: StoreType;
  readonly description: string;
  readonly backwardCompatible: boolean;
  readonly defaultNamespacePrefix: string;
}

const chinaDomain = 'blob.core.chinacloudapi.cn';

/** The configured block stores; the loader has made sure there is at least one. */
export function storeSettings(config: Config): StoreSettings[] {
  if (config.blockstores.stores.length > 0) {
    return config.blockstores.stores.map((store) => ({
      ...adapters(store),
      id: store.id,
      type: store.type === '' ? 'local' : store.type,
      description: store.description,
      backwardCompatible: store.backward_compatible,
      defaultNamespacePrefix: store.default_namespace_prefix,
    }));
  }
  const { type, default_namespace_prefix: prefix } = config.blockstore;
  return [
    {
      ...adapters(config.blockstore),
      id: '',
      type: type === '' ? 'local' : type,
      description: '',
      backwardCompatible: false,
      defaultNamespacePrefix: prefix,
    },
  ];
}

function adapters(settings: Pick<Config['blockstore'], 'local' | 's3' | 'azure' | 'gs'>) {
  const { local, s3, azure, gs } = settings;
  return {
    local,
    s3,
    gs,
    azure: azure.china_cloud ? { ...azure, domain: chinaDomain as typeof azure.domain } : azure,
  };
}

/** Signs physical addresses handed out to clients. */
export function signingSecret(config: Config): string {
  return config.blockstores.stores.length > 0
    ? config.blockstores.signing.secret_key
    : config.blockstore.signing.secret_key;
}
