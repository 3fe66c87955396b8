import type { Config } from './schema.ts';
import { valueAt } from './schema.ts';

export type Preset = 'local-settings' | 'quickstart';

export const quickstartCredentials = {
  userName: 'quickstart',
  accessKeyId: 'AKIAIOSFOLQUICKSTART',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
} as const;

/** Known to everybody, so the self-audit warns whenever one of them is in use. */
export const developmentSecrets = {
  encrypt: 'svc development secret, do not use in production',
  signing: 'svc development signing secret, do not use in production',
} as const;

const localSettings = {
  // Its secrets are published: only this machine may come in. See `withPresetSecrets` for what lets others in.
  listen_address: '127.0.0.1:8000',
  'database.type': 'local',
  'blockstore.type': 'local',
  'auth.encrypt.secret_key': developmentSecrets.encrypt,
  'blockstore.signing.secret_key': developmentSecrets.signing,
};

const quickstart = {
  ...localSettings,
  'installation.user_name': quickstartCredentials.userName,
  'installation.access_key_id': quickstartCredentials.accessKeyId,
  'installation.secret_access_key': quickstartCredentials.secretAccessKey,
  'auth.ui_config.rbac': 'internal',
};

/** Defaults of a preset; files and variables still override them. */
export function presetValues(preset: Preset | undefined): Readonly<Record<string, string>> {
  if (preset === undefined) return {};
  return preset === 'quickstart' ? quickstart : localSettings;
}

const fixedByQuickstart = [
  'database.type',
  'blockstore.type',
  'installation.user_name',
  'installation.access_key_id',
  'installation.secret_access_key',
] as const;

export function presetProblems(preset: Preset | undefined, config: Config): string[] {
  if (preset !== 'quickstart') return [];
  const changed = fixedByQuickstart.filter((name) => valueAt(config, name) !== quickstart[name]);
  return changed.map(
    (name) =>
      `FATAL: --quickstart needs ${name} to stay at its own value; remove the setting, or start without --quickstart`,
  );
}
