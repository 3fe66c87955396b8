import { Key } from './key.ts';
import type { Group, Values } from './key.ts';
import { authKeys } from './schema/auth.ts';
import { blockstoreKeys } from './schema/blockstore.ts';
import { databaseKeys } from './schema/database.ts';
import { engineKeys } from './schema/engine.ts';
import { emailKeys, gatewayKeys, serverKeys } from './schema/server.ts';

/** Every configuration key, declared once. */
export const schema = {
  ...serverKeys,
  ...databaseKeys,
  ...blockstoreKeys,
  ...engineKeys,
  ...authKeys,
  ...emailKeys,
  ...gatewayKeys,
} satisfies Group;

/** The effective configuration: the names of the keys as they are documented, durations in milliseconds. */
export type Config = Values<typeof schema>;

export interface NamedKey {
  readonly name: string;
  readonly key: Key<unknown>;
}

/** All keys with their dotted names, in the order of the documentation. */
export function namedKeys(group: Group = schema, prefix = ''): NamedKey[] {
  return Object.entries(group).flatMap(([name, member]) =>
    member instanceof Key ? [{ name: prefix + name, key: member }] : namedKeys(member, `${prefix}${name}.`),
  );
}

/** The dotted names of all groups, for variables that hold a whole JSON object. */
export function groupNames(group: Group = schema, prefix = ''): string[] {
  return Object.entries(group).flatMap(([name, member]) =>
    member instanceof Key ? [] : [prefix + name, ...groupNames(member, `${prefix}${name}.`)],
  );
}

export function valueAt(config: unknown, name: string): unknown {
  let value: unknown = config;
  for (const part of name.split('.')) value = (value as Record<string, unknown> | undefined)?.[part];
  return value;
}
