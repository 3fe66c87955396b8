import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openBlocks } from '../compose/foundation.ts';
import type { FoundationOptions } from '../compose/foundation.ts';
import { loadConfig, withPresetSecrets, type Config } from '../config/index.ts';
import type { Finding } from '../doctor/finding.ts';
import { failure, ok, warning } from '../doctor/finding.ts';
import {
  checkConfigFile,
  checkFolder,
  checkListener,
  checkOpenFiles,
  checkTls,
  checkVersions,
  foldersOf,
} from '../doctor/machine-checks.ts';
import { checkBlockStores, checkKeyValueStore } from '../doctor/store-checks.ts';
import { errorText } from '../logging/index.ts';
import { auditInstallation } from '../stats/self-audit.ts';
import type { GlobalOptions } from './global-options.ts';
import { withAuth, withKv } from './open-command.ts';

/** `svc doctor`: looks at everything a server needs. Exit code 1 when it could not work. */
export async function doctor(globals: GlobalOptions, flags: { readonly json?: true }): Promise<number> {
  const loaded = loadConfig(globals);
  const { config } = loaded;
  const findings: Finding[] = [];
  const tell = (found: readonly Finding[]): void => {
    findings.push(...found);
    for (const finding of found) {
      process.stdout.write(flags.json === true ? `${JSON.stringify(finding)}\n` : textOf(finding));
    }
  };
  tell([checkVersions()]);
  tell(await checkConfigFile(loaded));
  for (const [key, path] of foldersOf(config)) tell([await checkFolder(key, path)]);
  tell(await checkOpenFiles());
  tell(checkTls(config));
  tell([await checkListener(config)]);
  tell(await checkStores(globals, config));
  const failures = findings.filter(({ state }) => state === 'failure').length;
  const warnings = findings.filter(({ state }) => state === 'warning').length;
  if (flags.json !== true) process.stdout.write(`${failures} failures, ${warnings} warnings\n`);
  return failures === 0 ? 0 : 1;
}

async function checkStores(globals: GlobalOptions, config: Config): Promise<Finding[]> {
  const { type, local } = config.database;
  // Looking must not begin an installation.
  if (type === 'local' && !local.path.startsWith('memory:') && !existsSync(join(local.path, 'data.mdb'))) {
    return [ok('key-value store (local)', 'not there yet; the first start makes it')];
  }
  try {
    withPresetSecrets(loadConfig(globals));
    return await withKv(globals, async ({ kv, foundation }) => {
      const found = await checkKeyValueStore(kv);
      if (found.some(({ state }) => state !== 'ok')) return found;
      return [...found, ...(await checkBlocks(foundation, kv)), ...(await audit(globals))];
    });
  } catch (error) {
    return [failure(`key-value store (${type})`, errorText(error), 'correct the keys below "database"')];
  }
}

async function checkBlocks(
  foundation: FoundationOptions,
  kv: Parameters<typeof checkBlockStores>[0],
): Promise<Finding[]> {
  try {
    const blocks = await openBlocks(foundation);
    try {
      return await checkBlockStores(kv, blocks);
    } finally {
      await blocks.close();
    }
  } catch (error) {
    return [failure('block store', errorText(error), 'correct the keys below "blockstore"')];
  }
}

/** What the server itself warns of. */
function audit(globals: GlobalOptions): Promise<Finding[]> {
  return withAuth(globals, async ({ config, auth }) => {
    const hasAccessKey = async (id: string): Promise<boolean> =>
      (await auth.credentialsFor(id)) !== undefined;
    const findings = await auditInstallation({ config, hasAccessKey });
    return findings.map(({ id, description }) => warning(`security: ${id}`, ...halves(description)));
  });
}

/** The audit says what is and what to do in one sentence. */
function halves(description: string): [string, string] {
  const at = description.lastIndexOf('; ');
  return at < 0 ? [description, 'change it'] : [description.slice(0, at), description.slice(at + 2)];
}

const names = { ok: 'ok     ', warning: 'warning', failure: 'FAILURE' } as const;

function textOf({ check, state, text, fix }: Finding): string {
  const line = `${names[state]}  ${check}: ${text}\n`;
  return fix === undefined ? line : `${line}         fix: ${fix}\n`;
}
