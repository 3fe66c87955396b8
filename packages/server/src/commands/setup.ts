import { AuthError } from '@svc/auth';
import type { CredentialsWithSecret, KeyPair } from '@svc/auth';
import type { GlobalOptions } from './global-options.ts';
import { withAuth } from './open-command.ts';

export interface UserFlags {
  readonly userName: string;
  readonly accessKeyId?: string;
  readonly secretAccessKey?: string;
}

/** `svc setup`: the first administrator, without a running server. */
export function setup(
  globals: GlobalOptions,
  flags: UserFlags & { readonly check: boolean },
): Promise<number> {
  return withAuth(globals, async ({ config, auth }) => {
    if (config.auth.ui_config.rbac === 'external') {
      process.stdout.write('The store is ready; users are kept by the external authorization service.\n');
      return 0;
    }
    if ((await auth.setup.state()).initialized) {
      process.stdout.write('Setup is already complete.\n');
      return flags.check ? 1 : 0;
    }
    printCredentials(await auth.setup.run({ username: flags.userName, key: keyOf(flags) }));
    return 0;
  });
}

/** `svc superuser`: one more administrator. Whoever can read the configuration may create one. */
export function superuser(globals: GlobalOptions, flags: UserFlags): Promise<number> {
  return withAuth(globals, async ({ config, auth }) => {
    if (config.auth.ui_config.rbac === 'external') {
      process.stderr.write(
        'svc: users are kept by the external authorization service (auth.ui_config.rbac); create it there\n',
      );
      return 1;
    }
    try {
      printCredentials(await auth.setup.createSuperuser(flags.userName, keyOf(flags)));
      return 0;
    } catch (error) {
      if (!(error instanceof AuthError) || error.kind !== 'already_exists') throw error;
      process.stderr.write(`svc: user "${flags.userName}" already exists\n`);
      return 1;
    }
  });
}

function keyOf({ accessKeyId = '', secretAccessKey = '' }: UserFlags): KeyPair | undefined {
  if (accessKeyId === '') return undefined;
  if (secretAccessKey === '') throw new Error('--access-key-id needs --secret-access-key');
  return { accessKeyId, secretAccessKey };
}

function printCredentials(credentials: CredentialsWithSecret): void {
  const { accessKeyId, secretAccessKey } = credentials;
  process.stdout.write(
    `credentials:\n  access_key_id: ${accessKeyId}\n  secret_access_key: ${secretAccessKey}\n`,
  );
}
