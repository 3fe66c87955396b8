import { bytesOf, hostMany, luaOf, packageOf, plainOf, type Arguments, type LuaValue } from '../lua-value.ts';
import { askAws, type AwsAccount } from './aws-request.ts';
import type { Ask } from './svc.ts';

class GlueFailure extends Error {
  override readonly name = 'GlueFailure';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** A client of the Glue catalog with keys of its own. */
export function glueClient(ask: Ask, account: AwsAccount): LuaValue {
  const call = (operation: string, input: Readonly<Record<string, unknown>>): unknown => {
    const answer = askAws(ask, account, {
      service: 'glue',
      method: 'POST',
      path: '/',
      headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': `AWSGlue.${operation}` },
      body: bytesOf(JSON.stringify(input)),
    });
    const body = parse(answer.body);
    if (answer.status < 300) return body;
    const text = (name: string): string | undefined =>
      typeof body[name] === 'string' ? body[name] : undefined;
    const code = (text('__type') ?? String(answer.status)).replace(/^.*#/, '');
    throw new GlueFailure(code, `${code}: ${text('Message') ?? text('message') ?? ''}`);
  };
  const catalog = (args: Arguments, position: number): Record<string, unknown> =>
    args.has(position) ? { CatalogId: args.text(position) } : {};
  const tableInput = (args: Arguments): unknown => JSON.parse(args.text(2));
  return packageOf({
    get_table: hostMany((args) => {
      try {
        const input = { DatabaseName: args.text(1), Name: args.text(2), ...catalog(args, 3) };
        return [luaOf(call('GetTable', input)), true];
      } catch (error) {
        if (error instanceof GlueFailure && error.code === 'EntityNotFoundException') return ['', false];
        throw error;
      }
    }),
    create_table: hostMany((args) => {
      call('CreateTable', { DatabaseName: args.text(1), TableInput: tableInput(args), ...catalog(args, 3) });
      return [];
    }),
    update_table: hostMany((args) => {
      call('UpdateTable', {
        DatabaseName: args.text(1),
        TableInput: tableInput(args),
        ...catalog(args, 3),
        ...(args.has(4) ? { VersionId: args.text(4) } : {}),
        ...(args.has(5) ? { SkipArchive: args.flag(5) } : {}),
      });
      return [];
    }),
    delete_table: hostMany((args) => {
      call('DeleteTable', { DatabaseName: args.text(1), Name: args.text(2), ...catalog(args, 3) });
      return [];
    }),
    create_database: hostMany((args) => {
      createDatabase(args, call);
      return [];
    }),
    delete_database: hostMany((args) => {
      call('DeleteDatabase', { Name: args.text(1), ...catalog(args, 2) });
      return [];
    }),
  });
}

function createDatabase(
  args: Arguments,
  call: (operation: string, input: Record<string, unknown>) => unknown,
): void {
  const name = args.text(1);
  const options = args.has(2) ? args.table(2) : new Map<string, LuaValue>();
  const given = (plainOf(options.get('create_db_input')) ?? {}) as Record<string, unknown>;
  const database = { Name: name, ...(given['DatabaseInput'] as Record<string, unknown> | undefined) };
  if (database.Name !== name)
    throw new TypeError(`the name in create_db_input must be ${JSON.stringify(name)}`);
  try {
    call('CreateDatabase', { ...given, DatabaseInput: database });
  } catch (error) {
    const exists = error instanceof GlueFailure && error.code === 'AlreadyExistsException';
    if (!exists || options.get('error_on_already_exists') !== false) throw error;
  }
}

function parse(body: Uint8Array): Record<string, unknown> {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8')) as Record<string, unknown>;
  } catch {
    return {};
  }
}
