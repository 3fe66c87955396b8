import type { InstallationFacts, StorageFacts } from '@svc/api';
import type { BlockAdapter, BlockStores } from '@svc/block';
import type { Config } from '../config/index.ts';
import { version } from '../version.ts';

/** What the API reports about this installation. */
export function installationFacts(config: Config, blocks: BlockStores): InstallationFacts {
  const stores = blocks.list();
  const { auth } = config;
  const passwords = auth.remote_authenticator.enabled || auth.ldap.server_endpoint !== '';
  const placeholders = passwords
    ? { usernamePlaceholder: 'Username', passwordPlaceholder: 'Password' }
    : auth.ui_config.use_login_placeholders
      ? { usernamePlaceholder: 'Access Key ID', passwordPlaceholder: 'Secret Access Key' }
      : {};
  return {
    version,
    storage: blocks.default === undefined ? undefined : storageFacts(blocks.default),
    storages: stores.length > 1 ? stores.map(storageFacts) : [],
    login: {
      loginUrl:
        auth.ui_config.login_url === '' && auth.oidc.enabled ? '/oidc/login' : auth.ui_config.login_url,
      loginUrlMethod: auth.oidc.enabled ? 'select' : 'none',
      ...placeholders,
      fallbackLoginUrl:
        auth.ui_config.fallback_login_url === '' ? undefined : auth.ui_config.fallback_login_url,
      fallbackLoginLabel:
        auth.ui_config.fallback_login_label === '' ? undefined : auth.ui_config.fallback_login_label,
    },
    customViewers: [],
    mail: config.email.smtp_host !== '' && config.email.burst > 0,
  };
}

function storageFacts(adapter: BlockAdapter): StorageFacts {
  return { ...adapter.info, type: adapter.type };
}
