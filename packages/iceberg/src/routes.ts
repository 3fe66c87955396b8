import type { Answer, Call } from './call.ts';
import { commitTable } from './catalog/commit-table.ts';
import {
  createNamespace,
  dropNamespace,
  listNamespaces,
  loadNamespace,
  namespaceExists,
  updateProperties,
} from './catalog/namespaces.ts';
import {
  createTable,
  dropTable,
  listTables,
  loadCredentials,
  loadTable,
  registerTable,
  renameTable,
  tableExists,
} from './catalog/tables.ts';
import { getConfig, readPrefix } from './config.ts';
import { decoded } from './request/decoded.ts';

export interface Operation {
  readonly id: string;
  readonly method: string;
  /** Below `/v1/{prefix}`. */
  readonly path: string;
  run(call: Call): Promise<Answer>;
}

const namespace = '/namespaces/{namespace}';
const table = `${namespace}/tables/{table}`;

/** What comes below the prefix of a warehouse. */
const operations: readonly Operation[] = [
  { id: 'icebergListNamespaces', method: 'GET', path: '/namespaces', run: listNamespaces },
  { id: 'icebergCreateNamespace', method: 'POST', path: '/namespaces', run: createNamespace },
  { id: 'icebergLoadNamespace', method: 'GET', path: namespace, run: loadNamespace },
  { id: 'icebergNamespaceExists', method: 'HEAD', path: namespace, run: namespaceExists },
  { id: 'icebergDropNamespace', method: 'DELETE', path: namespace, run: dropNamespace },
  { id: 'icebergUpdateProperties', method: 'POST', path: `${namespace}/properties`, run: updateProperties },
  { id: 'icebergListTables', method: 'GET', path: `${namespace}/tables`, run: listTables },
  { id: 'icebergCreateTable', method: 'POST', path: `${namespace}/tables`, run: createTable },
  { id: 'icebergRegisterTable', method: 'POST', path: `${namespace}/register`, run: registerTable },
  { id: 'icebergLoadTable', method: 'GET', path: table, run: loadTable },
  { id: 'icebergTableExists', method: 'HEAD', path: table, run: tableExists },
  { id: 'icebergCommitTable', method: 'POST', path: table, run: commitTable },
  { id: 'icebergDropTable', method: 'DELETE', path: table, run: dropTable },
  { id: 'icebergLoadCredentials', method: 'GET', path: `${table}/credentials`, run: loadCredentials },
  // Writers send what they measured and want no more than an answer.
  {
    id: 'icebergReportMetrics',
    method: 'POST',
    path: `${table}/metrics`,
    run: () => Promise.resolve({ status: 204 }),
  },
  { id: 'icebergRenameTable', method: 'POST', path: '/tables/rename', run: renameTable },
];

const endpoints = operations.map(({ method, path }) => `${method} /v1/{prefix}${path}`);

const configOperation: Operation = {
  id: 'icebergGetConfig',
  method: 'GET',
  path: '/config',
  run: (call) => getConfig(call, endpoints),
};

export interface Route {
  readonly operation: Operation;
  readonly warehouse: readonly string[];
  readonly params: Readonly<Record<string, string>>;
}

/** The operation that a path below `/iceberg/v1` means; undefined when there is none. */
export function routeOf(method: string, path: string): Route | undefined {
  const [, ...segments] = path.split('/').map(decoded);
  if (method === 'GET' && path === '/config')
    return { operation: configOperation, warehouse: [], params: {} };
  const warehouse = readPrefix(segments[0] ?? '');
  const rest = warehouse === undefined ? segments : segments.slice(1);
  for (const operation of operations) {
    if (operation.method !== method) continue;
    const params = matched(operation.path.split('/').slice(1), rest);
    if (params !== undefined) return { operation, warehouse: warehouse ?? [], params };
  }
  return undefined;
}

function matched(
  pattern: readonly string[],
  segments: readonly string[],
): Record<string, string> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [at, part] of pattern.entries()) {
    const segment = segments[at] ?? '';
    if (part.startsWith('{')) params[part.slice(1, -1)] = segment;
    else if (part !== segment) return undefined;
  }
  return params;
}
