import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { loadConfig, secretValues } from '../config/index.ts';
import type { LoadedConfig } from '../config/index.ts';
import { variableName } from '../config/environment.ts';
import { maskGroup } from '../config/print.ts';
import { namedKeys, schema } from '../config/schema.ts';
import type { GlobalOptions } from './global-options.ts';
import { zip } from './zip.ts';

interface FlareFlags {
  readonly package?: true;
  readonly includeEnvVars: boolean;
  readonly output: string;
  readonly envVarFilename: string;
  readonly zipFilename: string;
  readonly stdout?: true;
}

const shownPrefixes = ['SVC_', 'LAKEFS_', 'HTTP_', 'HOSTNAME'];
const secretWords = /SECRET|PASSWORD|PASSWD|TOKEN|CREDENTIAL|PRIVATE|ACCESS_KEY|CONNECTION_STRING/i;
const secretPatterns =
  /\b(AKIA|ASIA)[A-Z0-9]{16}\b|:\/\/[^/\s:@]+:[^/\s@]+@|-----BEGIN |\beyJ[\w-]+\.[\w-]+\./;

/** `svc flare`: what support needs to know about this installation, without its secrets. */
export function flare(globals: GlobalOptions, flags: FlareFlags): number {
  const loaded = loadConfig(globals);
  const files = [
    { name: 'svc-config.yaml', content: Buffer.from(configYaml(loaded)) },
    ...(flags.includeEnvVars
      ? [{ name: flags.envVarFilename, content: Buffer.from(environmentText(loaded, process.env)) }]
      : []),
  ];
  if (flags.stdout === true) {
    process.stderr.write('warning: check this output before you hand it to anyone\n');
    for (const file of files) process.stdout.write(`--- ${file.name}\n${file.content.toString()}`);
    return 0;
  }
  const folder = join(flags.output, 'flare', new Date().toISOString().replaceAll(':', '-'));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  const written = flags.package === true ? [{ name: flags.zipFilename, content: zip(files) }] : files;
  for (const { name, content } of written) {
    writeFileSync(join(folder, name), content, { mode: 0o600 });
    process.stdout.write(`${join(folder, name)}\n`);
  }
  return 0;
}

function configYaml(loaded: LoadedConfig): string {
  return stringify(maskGroup(schema, loaded.config, '[SECRET]'));
}

/** Variables of interest, one per line; a secret value is replaced by its hash, so that two can be compared. */
export function environmentText(
  loaded: Pick<LoadedConfig, 'config'>,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const secretVariables = new Set(
    namedKeys()
      .filter(({ key }) => key.secret || key.items !== undefined)
      .flatMap(({ name }) => [variableName(name), variableName(name, 'LAKEFS_')]),
  );
  const secrets = secretValues(loaded);
  const lines = Object.entries(env)
    .filter(([name]) => shownPrefixes.some((prefix) => name.startsWith(prefix)))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value = '']) => {
      const secret =
        secretVariables.has(name) ||
        secretWords.test(name) ||
        secretPatterns.test(value) ||
        secrets.some((known) => value.includes(known));
      return `${name}=${secret && value !== '' ? createHash('sha512').update(value).digest('hex') : value}`;
    });
  return `${lines.join('\n')}\n`;
}
