import type { BlockAdapter } from './adapter.ts';
import type { BlockStoreConfig, OpenOptions } from './config.ts';
import { BlockError } from './errors.ts';

/** The configured stores by storage id. Repositories recorded without an id use the backward-compatible one. */
export class BlockStores {
  readonly #byId = new Map<string, BlockAdapter>();

  constructor(adapters: readonly BlockAdapter[]) {
    let backwardCompatible: BlockAdapter | undefined;
    for (const adapter of adapters) {
      const { storageId } = adapter.info;
      if (this.#byId.has(storageId)) {
        throw new BlockError(
          'configuration',
          `two block stores have the id "${storageId}": ids must be unique`,
        );
      }
      this.#byId.set(storageId, adapter);
      if (!adapter.info.backwardCompatible) continue;
      if (backwardCompatible !== undefined) {
        throw new BlockError(
          'configuration',
          `block stores "${backwardCompatible.info.storageId}" and "${storageId}" are both backward compatible: at most one may be`,
        );
      }
      backwardCompatible = adapter;
    }
    if (adapters.length > 1 && this.#byId.has('')) {
      throw new BlockError('configuration', 'with several block stores every one needs a non-empty id');
    }
    if (backwardCompatible !== undefined) this.#byId.set('', backwardCompatible);
  }

  /** Undefined for a store that is not configured, or no longer. */
  find(storageId: string): BlockAdapter | undefined {
    return this.#byId.get(storageId);
  }

  /** The store of a repository; an unknown id is a `configuration` error that names it. */
  get(storageId: string): BlockAdapter {
    const adapter = this.#byId.get(storageId);
    if (adapter !== undefined) return adapter;
    const known = this.list().map((store) => `"${store.info.storageId}"`);
    throw new BlockError(
      'configuration',
      storageId === ''
        ? `no block store answers for repositories without a storage id: mark one of ${known.join(', ')} as backward_compatible`
        : `block store "${storageId}" is not configured (configured: ${known.join(', ')})`,
    );
  }

  /** The store that answers for storage id "", if any. */
  get default(): BlockAdapter | undefined {
    return this.#byId.get('');
  }

  /** Every store once, in the order of the configuration. */
  list(): BlockAdapter[] {
    return [...new Set(this.#byId.values())];
  }

  async close(): Promise<void> {
    await Promise.all(this.list().map((adapter) => adapter.close()));
  }
}

/** Opens one store. Its adapter's code is loaded only now. */
export async function openBlockStore(
  config: BlockStoreConfig,
  options: OpenOptions = {},
): Promise<BlockAdapter> {
  switch (config.type) {
    case 'mem':
      return (await import('./adapters/mem.ts')).createMemAdapter(config);
    case 'local':
      return (await import('./adapters/local/index.ts')).openLocalAdapter(config, options);
    case 's3':
      return (await import('./adapters/s3/index.ts')).openS3Adapter(config, options);
    case 'azure':
      return (await import('./adapters/azure/index.ts')).openAzureAdapter(config, options);
    case 'gs':
      return (await import('./adapters/gs/index.ts')).openGsAdapter(config, options);
    default: {
      const { type } = config as { type: string };
      throw new BlockError(
        'configuration',
        `unknown block store type "${type}": choose local, s3, gs, azure or mem`,
      );
    }
  }
}

/** Opens all stores, or none: those already open are closed when one fails. */
export async function openBlockStores(
  configs: readonly BlockStoreConfig[],
  options: OpenOptions = {},
): Promise<BlockStores> {
  const adapters: BlockAdapter[] = [];
  try {
    for (const config of configs) adapters.push(await openBlockStore(config, options));
    return new BlockStores(adapters);
  } catch (error) {
    await Promise.all(adapters.map((adapter) => adapter.close()));
    throw error;
  }
}
