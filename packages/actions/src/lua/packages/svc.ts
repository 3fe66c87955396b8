import {
  hostMany,
  luaOf,
  packageOf,
  plainOf,
  textOf,
  type Arguments,
  type HostFunction,
  type LuaValue,
} from '../lua-value.ts';
import type { HostAnswer, HostCall } from '../worker-protocol.ts';

/** Asks the main thread, and waits. Throws when it could not ask. */
export type Ask = (call: HostCall) => Exclude<HostAnswer, { error: string }>;

type Query = Record<string, string>;

/** The service itself, called as the user whose operation the hook belongs to. */
export function svcPackage(ask: Ask): LuaValue {
  const call = (method: string, path: string, query: Query = {}, body?: unknown) =>
    ask({ kind: 'api', method, path, query, body: body === undefined ? undefined : JSON.stringify(body) });
  const table = (answer: ReturnType<Ask>): readonly LuaValue[] => [answer.status, tableOf(answer.body)];
  const optional = (args: Arguments, names: Readonly<Record<string, number>>): Query =>
    Object.fromEntries(
      Object.entries(names)
        .filter(([, position]) => args.has(position))
        .map(([name, position]) => {
          const value = args.value(position);
          return [name, typeof value === 'boolean' ? String(value) : args.text(position)];
        }),
    );
  const functions: Record<string, HostFunction> = {
    create_tag: hostMany((args) =>
      table(call('POST', repositoryPath(args, 'tags'), {}, { ref: args.text(2), id: args.text(3) })),
    ),
    diff_refs: hostMany((args) =>
      table(
        call('GET', repositoryPath(args, 'refs', args.text(2), 'diff', args.text(3)), {
          type: 'three_dot',
          ...optional(args, { after: 4, prefix: 5, delimiter: 6, amount: 7 }),
        }),
      ),
    ),
    diff_branch: hostMany((args) =>
      table(
        call(
          'GET',
          repositoryPath(args, 'branches', args.text(2), 'diff'),
          optional(args, { after: 3, amount: 4, prefix: 5, delimiter: 6 }),
        ),
      ),
    ),
    list_objects: hostMany((args) =>
      table(
        call(
          'GET',
          repositoryPath(args, 'refs', args.text(2), 'objects', 'ls'),
          optional(args, { after: 3, prefix: 4, delimiter: 5, amount: 6, user_metadata: 7 }),
        ),
      ),
    ),
    get_object: hostMany((args) => {
      const answer = call('GET', repositoryPath(args, 'refs', args.text(2), 'objects'), {
        path: args.text(3),
      });
      return [answer.status, Buffer.from(answer.body).toString('latin1')];
    }),
    stat_object: hostMany((args) => {
      const answer = call('GET', repositoryPath(args, 'refs', args.text(2), 'objects', 'stat'), {
        path: args.text(3),
        ...optional(args, { user_metadata: 4 }),
      });
      return [answer.status, Buffer.from(answer.body).toString('latin1')];
    }),
    update_object_user_metadata: hostMany((args) => {
      const set = Object.fromEntries(
        [...args.table(4)].map(([key, value]) => [textOf(key), String(plainOf(value))]),
      );
      const path = repositoryPath(args, 'branches', args.text(2), 'objects', 'stat', 'user_metadata');
      const answer = call('PUT', path, { path: args.text(3) }, { set });
      return answer.status === 204 || answer.status === 201 ? [204] : table(answer);
    }),
  };
  return packageOf(functions);
}

function repositoryPath(args: Arguments, ...parts: readonly string[]): string {
  return `/repositories/${[args.text(1), ...parts].map((part) => encodeURIComponent(part)).join('/')}`;
}

function tableOf(body: Uint8Array): LuaValue {
  const text = Buffer.from(body).toString('utf8');
  return text === '' ? undefined : luaOf(JSON.parse(text) as unknown);
}

const defaultHttpTimeoutMs = 30_000;

/** Requests to anywhere the server may go. */
export function netHttpPackage(ask: Ask): LuaValue {
  return packageOf({
    request: hostMany((args) => {
      const first = args.value(1);
      const options = first instanceof Map ? args.table(1) : undefined;
      const option = (name: string): string | undefined => {
        const value = options?.get(name);
        return typeof value === 'string' ? value : undefined;
      };
      const body = options === undefined ? (args.has(2) ? args.bytes(2) : undefined) : option('body');
      const url = options === undefined ? args.text(1) : textOf(option('url') ?? '');
      const headers = options?.get('headers');
      const answer = ask({
        kind: 'http',
        url,
        method: textOf(option('method') ?? (body === undefined ? 'GET' : 'POST')).toUpperCase(),
        headers: headers instanceof Map ? (plainOf(headers) as Record<string, string | string[]>) : {},
        body,
        timeoutMs: defaultHttpTimeoutMs,
      });
      const status = `${answer.status} ${answer.statusText}`;
      return [
        answer.status,
        Buffer.from(answer.body).toString('latin1'),
        headerTable(answer.rawHeaders),
        status,
      ];
    }),
  });
}

/** Headers under their usual spelling; those that came several times as a list. */
function headerTable(rawHeaders: readonly string[]): LuaValue {
  const table = new Map<string, string[]>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '')
      .toLowerCase()
      .replaceAll(/(^|-)([a-z])/g, (part) => part.toUpperCase());
    table.set(name, [...(table.get(name) ?? []), rawHeaders[index + 1] ?? '']);
  }
  return new Map(
    [...table].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]),
  );
}
