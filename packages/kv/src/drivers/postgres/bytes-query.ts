import { Query as PgQuery, type ClientBase, type Submittable } from 'pg';
import type { Statement } from './statements.ts';

export type Parameter = Buffer | number;

export interface Query {
  readonly statement: Statement;
  readonly values: readonly Parameter[];
}

export interface QueryRows {
  readonly rows: Buffer[][];
  readonly rowCount: number | null;
}

/** Members of pg that its type declarations leave out. */
interface PgConnection {
  readonly stream: { cork(): void; uncork(): void };
  readonly submittedNamedStatements: Record<string, string>;
  parse(statement: Statement): void;
  bind(portal: BoundStatement): void;
  execute(portal: object): void;
  sync(): void;
}

interface BoundStatement {
  readonly statement: string;
  readonly values: readonly Parameter[];
  readonly binary: boolean;
  readonly valueMapper: (value: Parameter) => Buffer | string;
}

interface QueryMembers extends Submittable {
  name: string;
  text: string;
  values: readonly Parameter[];
  callback: (error: Error | null, answer?: QueryRows) => void;
  hasBeenParsed(connection: PgConnection): boolean;
}

const OpenQuery = PgQuery as unknown as new (config: object) => QueryMembers;

/** Hands statements to a connection, which sends them with one call of the system and so wakes the server once. */
export function sendTogether(client: ClientBase, queries: readonly Query[]): Promise<QueryRows>[] {
  const { stream } = (client as unknown as { readonly connection: PgConnection }).connection;
  stream.cork();
  try {
    return queries.map((query) => answerTo(client, query));
  } finally {
    stream.uncork();
  }
}

function answerTo(client: ClientBase, query: Query): Promise<QueryRows> {
  return new Promise((resolve, reject) => {
    client.query(
      new BytesQuery(query, (error, answer) => {
        if (answer === undefined) reject(error ?? new Error('a statement ended without an answer'));
        else resolve(answer);
      }),
    );
  });
}

/**
 * A prepared statement whose rows are bytes. The program knows what its statements answer, so it does not ask for a
 * description of the columns each time, and decodes nothing. pg's own query copies its configuration property by
 * property, which takes longer than the rest.
 */
class BytesQuery extends OpenQuery {
  readonly #rows: Buffer[][] = [];
  #rowCount: number | null = null;

  constructor({ statement, values }: Query, callback: QueryMembers['callback']) {
    super({});
    this.name = statement.name;
    this.text = statement.text;
    this.values = values;
    this.callback = callback;
  }

  prepare(connection: PgConnection): void {
    const { name, text, values } = this;
    if (!this.hasBeenParsed(connection)) {
      connection.parse({ name, text });
      connection.submittedNamedStatements[name] = text;
    }
    connection.bind({ statement: name, values, binary: true, valueMapper: parameterOf });
    connection.execute({});
    connection.sync();
  }

  handleDataRow({ fields }: { readonly fields: Buffer[] }): void {
    this.#rows.push(fields);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const count = /\d+$/.exec(text);
    if (count !== null) this.#rowCount = Number(count[0]);
  }

  handleReadyForQuery(): void {
    this.callback(null, { rows: this.#rows, rowCount: this.#rowCount });
  }

  handleError(error: Error): void {
    this.callback(error);
  }
}

/** Numbers are sent as text. */
function parameterOf(value: Parameter): Buffer | string {
  return typeof value === 'number' ? String(value) : value;
}
