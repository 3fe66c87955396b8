import type { Group, Key } from './key.ts';
import { variableName } from './environment.ts';
import { namedKeys, schema } from './schema.ts';

const sections: readonly { title: string; groups: readonly string[] }[] = [
  { title: 'Server', groups: ['listen_address', 'server', 'tls', 'ui'] },
  { title: 'Logging', groups: ['logging'] },
  { title: 'Database (key-value store)', groups: ['database'] },
  { title: 'Block store', groups: ['blockstore', 'blockstores'] },
  { title: 'Versioning engine', groups: ['graveler', 'committed', 'reflog', 'events', 'gc', 'ugc'] },
  { title: 'S3 gateway', groups: ['gateways'] },
  { title: 'Authentication and authorization', groups: ['auth', 'installation'] },
  { title: 'Hooks', groups: ['actions'] },
  { title: 'Mail', groups: ['email', 'email_subscription'] },
  {
    title: 'Statistics, usage, audit and tracing',
    groups: ['audit', 'stats', 'usage_report', 'security', 'tracing'],
  },
];

const introduction = `# Configuration

<!-- Generated from the schema by "npm run docs"; change the schema, not this file. -->

Configuration comes from a YAML file and from environment variables; a variable wins over the file, the file over
the default.

- The file is the one given with \`--config\`, else the first existing of \`./config.yaml\`, \`$HOME/svc/config.yaml\`,
  \`/etc/svc/config.yaml\`, \`$HOME/.svc.yaml\`. Key names are compared without case.
- The variable of a key is \`SVC_\` and the key in capitals with \`_\` for \`.\`: \`logging.format\` is
  \`SVC_LOGGING_FORMAT\`. An empty variable counts as unset. Where only \`LAKEFS_…\` is set for the same key, that is
  used and one warning is logged.
- Durations are numbers with units (\`ns\`, \`us\`, \`ms\`, \`s\`, \`m\`, \`h\`): \`90s\`, \`1h30m\`. Sizes are plain numbers of
  bytes. A list is a YAML list, a JSON array or words separated by commas; a map is a YAML map or
  \`k1=v1,k2=v2\`; a list of objects is a YAML list or, in a variable, one JSON array. A variable named after a whole
  group may hold a JSON object (\`SVC_LOGGING='{"level":"DEBUG"}'\`).
- Unknown keys, bad values and missing required keys are all reported at once; the server then exits with status 1
  and has created nothing.
- \`svc config print\` shows the effective value of every key and where it came from. Secrets (🔒) are never shown.
- \`--local-settings\` presets the local database and block store with development secrets; \`--quickstart\` also
  creates a first user. Neither is for production. These secrets are published, so both listen on \`127.0.0.1:8000\`.
  To let other machines in, set \`listen_address\` for a new installation (with \`database.local.path\` and
  \`blockstore.local.path\` of its own): its secrets are then generated, kept in \`preset-secrets.json\` beside the
  database, and the secret access key is printed at start. An installation made with the published secrets is not
  served to other machines.
- While the server runs, a change of \`logging.level\` in the file applies within seconds. Everything else needs a
  restart.
`;

function cell(text: string): string {
  return text.replaceAll(/(?<!\\)\|/g, '\\|');
}

function row(name: string, key: Key<unknown>): string {
  const shownDefault = key.required
    ? '**required**'
    : key.defaultText === ''
      ? '–'
      : `\`${key.defaultText}\``;
  const notes = [
    key.meaning,
    ...(key.ignored === undefined ? [] : [`*Accepted without effect: ${key.ignored}.*`]),
    ...(key.unavailable === undefined
      ? []
      : [`*Without effect in this version: ${key.unavailable} is not part of it.*`]),
    ...(key.secret ? ['🔒'] : []),
  ];
  return `| \`${name}\` | ${key.type} | ${cell(shownDefault)} | ${cell(notes.join(' '))} |`;
}

const header = '| Key | Type | Default | Meaning |\n|---|---|---|---|';

/** `docs/configuration.md`, from the schema. */
export function configurationDocument(): string {
  const parts = [introduction];
  for (const { title, groups } of sections) {
    const keys = namedKeys().filter(({ name }) => groups.includes(name.split('.')[0] ?? ''));
    parts.push(`## ${title}\n`, header, ...keys.map(({ name, key }) => row(name, key)), '');
    for (const { name, key } of keys) {
      if (key.items === undefined || key.ignored !== undefined) continue;
      parts.push(
        `Members of each entry of \`${name}\` (variable \`${variableName(name)}\`, a JSON array):\n`,
        header,
        ...memberRows(key.items),
        '',
      );
    }
  }
  return `${parts.join('\n').trimEnd()}\n`;
}

function memberRows(items: Group): string[] {
  return namedKeys(items).map(({ name, key }) => row(name, key));
}

/** Groups that no section shows; the test of the documentation holds this empty. */
export function undocumentedGroups(): string[] {
  const shown = new Set(sections.flatMap(({ groups }) => groups));
  return Object.keys(schema).filter((name) => !shown.has(name));
}
