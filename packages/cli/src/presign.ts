import type { components } from '@svc/client';
import type { CommandContext } from './context.ts';
import { CliError } from './errors.ts';

type StorageConfig = components['schemas']['StorageConfig'];

export interface PresignSupport {
  readonly supported: boolean;
  readonly multipart: boolean;
}

const none: PresignSupport = { supported: false, multipart: false };

/** What the server can do for this repository. `--pre-sign=false` sends no request. */
export async function presignSupport(
  context: CommandContext,
  repository: string,
  wanted: boolean,
): Promise<PresignSupport> {
  if (!wanted) return none;
  const config = await storageConfigOf(context, repository);
  return {
    supported: config.pre_sign_support,
    multipart: config.pre_sign_support && config.pre_sign_multipart_upload === true,
  };
}

/** The store a repository lives in; with several stores the repository says which. */
export async function storageConfigOf(context: CommandContext, repository: string): Promise<StorageConfig> {
  const config = await context.client.get('/config');
  const stores = config.storage_config_list ?? [];
  if (stores.length <= 1) {
    const only = config.storage_config ?? stores[0];
    if (only === undefined) throw new CliError('the server does not describe its storage');
    return only;
  }
  const { storage_id: storageId = '' } = await context.client.get('/repositories/{repository}', {
    params: { path: { repository } },
  });
  const store = stores.find((candidate) => (candidate.blockstore_id ?? '') === storageId);
  if (store === undefined) throw new CliError(`the server has no storage with the id "${storageId}"`);
  return store;
}
