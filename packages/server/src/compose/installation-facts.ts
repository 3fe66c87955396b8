import type { InstallationFacts, StorageFacts } from '@svc/api';
import type { BlockAdapter, BlockStores } from '@svc/block';
import type { Config } from '../config/index.ts';
import { version } from '../version.ts';

/** What the API reports about this installation. */
export function installationFacts(config: Config, blocks: BlockStores): InstallationFacts {
  const stores = blocks.list();
  const { auth } = config;
  const placeholders =
    auth.ldap.server_endpoint !== '' || auth.remote_authenticator.enabled
      ? { usernamePlaceholder: 'Username', passwordPlaceholder: 'Password' }
      : auth.ui_config.use_login_placeholders
        ? { usernamePlaceholder: 'Access Key ID', passwordPlaceholder: 'Secret Access Key' }
        : {};
  return {
    version,
    storage: blocks.default === undefined ? undefined : storageFacts(blocks.default),
    actionsEnabled: config.actions.enabled,
    storages: stores.length > 1 ? stores.map(storageFacts) : [],
    login: {
      loginUrl: auth.ui_config.login_url || (auth.oidc.enabled ? '/oidc/login' : ''),
      loginUrlMethod: auth.oidc.enabled ? 'select' : 'none',
      loginFailedMessage: auth.ui_config.login_failed_message,
      loginCookieNames: auth.ui_config.login_cookie_names,
      logoutUrl: auth.ui_config.logout_url,
      ...placeholders,
      fallbackLoginUrl:
        auth.ui_config.fallback_login_url === '' ? undefined : auth.ui_config.fallback_login_url,
      fallbackLoginLabel:
        auth.ui_config.fallback_login_label === '' ? undefined : auth.ui_config.fallback_login_label,
    },
    customViewers: [],
  };
}

function storageFacts(adapter: BlockAdapter): StorageFacts {
  return { ...adapter.info, type: adapter.type };
}
