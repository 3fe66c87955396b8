import { bytesOf, host, packageOf, textOf, type LuaValue } from '../lua-value.ts';
import type { Ask } from './svc.ts';

const timeoutMs = 90_000;
const pollMs = 1000;
/** Longer than a hook may run by default: its own limit ends the waiting. */
const maxPolls = 3600;

class DatabricksFailure extends Error {
  override readonly name = 'DatabricksFailure';
  /** What should be made is there; the service says so in its text only. */
  readonly isThere: boolean;

  constructor(code: string, message: string) {
    super(message);
    this.isThere = code.endsWith('ALREADY_EXISTS') || /already exists/i.test(message);
  }
}

type Answer = Record<string, unknown>;
interface StatementPlace {
  readonly warehouseId: string;
  readonly catalog: string;
  readonly schema: string;
}

export function databricksPackage(ask: Ask): LuaValue {
  return packageOf({ client: host((args) => databricksClient(ask, args.text(1), args.text(2))) });
}

/** A client of a Databricks workspace: Unity catalog and SQL warehouses. */
function databricksClient(ask: Ask, hostName: string, token: string): LuaValue {
  const base = (/^https?:\/\//.test(hostName) ? hostName : `https://${hostName}`).replace(/\/$/, '');
  const call = (method: string, path: string, body?: object): Answer => {
    const answer = ask({
      kind: 'http',
      url: `${base}${path}`,
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: body === undefined ? undefined : bytesOf(JSON.stringify(body)),
      timeoutMs,
    });
    const parsed = parse(answer.body);
    if (answer.status < 300) return parsed;
    const code = textIn(parsed, 'error_code') ?? String(answer.status);
    throw new DatabricksFailure(code, `${code}: ${textIn(parsed, 'message') ?? `HTTP ${answer.status}`}`);
  };
  const execute = (statement: string, place: StatementPlace): string => {
    const { warehouseId: warehouse_id, catalog, schema } = place;
    const request = { statement, warehouse_id, catalog, schema, wait_timeout: '30s' };
    let answer = call('POST', '/api/2.0/sql/statements/', request);
    for (let poll = 0; poll < maxPolls; poll += 1) {
      const status = (answer['status'] ?? {}) as Answer;
      const state = textIn(status, 'state') ?? '';
      if (state !== 'PENDING' && state !== 'RUNNING') {
        const message = textIn((status['error'] ?? {}) as Answer, 'message');
        if (message !== undefined) throw new DatabricksFailure(state, message);
        return state;
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pollMs);
      answer = call(
        'GET',
        `/api/2.0/sql/statements/${encodeURIComponent(textIn(answer, 'statement_id') ?? '')}`,
      );
    }
    throw new Error('the statement did not end');
  };
  return packageOf({
    create_schema: host((args) => {
      const [name, catalog] = [args.text(1), args.text(2)];
      try {
        const made = call('POST', '/api/2.1/unity-catalog/schemas', { name, catalog_name: catalog });
        return bytesOf(textIn(made, 'name') ?? name);
      } catch (error) {
        if (!(error instanceof DatabricksFailure) || !error.isThere || !args.flag(3)) throw error;
        const full = encodeURIComponent(`${catalog}.${name}`);
        return bytesOf(textIn(call('GET', `/api/2.1/unity-catalog/schemas/${full}`), 'name') ?? name);
      }
    }),
    register_external_table: host((args) => {
      const table = args.text(1).replaceAll('-', '_');
      if (!/^\w{1,255}$/.test(table)) throw new TypeError(`not a table name: ${table}`);
      const location = args.text(2);
      if (!URL.canParse(location)) throw new TypeError(`the location must be an absolute URI: ${location}`);
      const place = { warehouseId: args.text(3), catalog: args.text(4), schema: args.text(5) };
      const description = args.has(6) ? args.table(6).get('description') : undefined;
      const comment =
        typeof description === 'string' && description !== ''
          ? ` COMMENT ${quoted(textOf(description))}`
          : '';
      const create = `CREATE EXTERNAL TABLE ${table} LOCATION ${quoted(location)}${comment}`;
      try {
        return execute(create, place);
      } catch (error) {
        if (!(error instanceof DatabricksFailure) || !error.isThere) throw error;
        execute(`DROP TABLE ${table}`, place);
        return execute(create, place);
      }
    }),
    execute_statement: host((args) =>
      execute(args.text(1), { warehouseId: args.text(2), catalog: args.text(3), schema: args.text(4) }),
    ),
  });
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function textIn(answer: Answer, name: string): string | undefined {
  const value = answer[name];
  return typeof value === 'string' ? value : undefined;
}

function parse(body: Uint8Array): Answer {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8')) as Answer;
  } catch {
    return {};
  }
}
