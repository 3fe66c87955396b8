// A Hive metastore in memory, written from its public interface definition.
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { decodeMessage, Input } from '../src/hive/thrift/decode.ts';
import { encodeMessage, type ThriftMessage } from '../src/hive/thrift/encode.ts';
import {
  bool,
  fieldsOf,
  i32,
  messageTypes,
  struct,
  structIn,
  structs,
  structsIn,
  text,
  textIn,
  texts,
  textsIn,
  type ThriftFields,
  type ThriftValue,
} from '../src/hive/thrift/values.ts';

export interface HiveFakeOptions {
  readonly framed?: boolean;
  /** Methods it does not have. */
  readonly without?: readonly string[];
}

interface StoredTable {
  fields: ThriftFields;
  readonly partitions: Map<string, ThriftFields>;
}

class Refusal extends Error {
  readonly field: number;

  constructor(field: number, message: string) {
    super(message);
    this.field = field;
  }
}

export class HiveFake {
  readonly databases = new Map<string, ThriftFields>();
  readonly tables = new Map<string, StoredTable>();
  readonly calls: string[] = [];
  readonly address: string;
  /** The answer to a method's nth call is this refusal, from field 3 on a MetaException. */
  failAt: { method: string; call: number } | undefined;
  /** The connection ends in place of the answer. */
  hangUpAt: string | undefined;
  readonly #options: HiveFakeOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, options: HiveFakeOptions) {
    this.#server = server;
    this.#options = options;
    const { port } = server.address() as AddressInfo;
    this.address = `${options.framed === true ? 'thrift+framed://' : ''}127.0.0.1:${port}`;
    server.on('connection', (socket) => {
      this.#serve(socket);
    });
  }

  static async start(options: HiveFakeOptions = {}): Promise<HiveFake> {
    const server = createServer({ noDelay: true });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new HiveFake(server, options);
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    const { framed = false } = this.#options;
    const input = new Input();
    let reading: Generator<undefined, ThriftMessage, undefined> | undefined;
    let frame = framed ? undefined : 0;
    socket.on('error', () => undefined);
    socket.on('data', (bytes: Buffer) => {
      input.append(bytes);
      for (;;) {
        if (frame === undefined) {
          if (input.length < 4) return;
          frame = input.take(4).readUInt32BE();
        }
        if (input.length === 0) return;
        reading ??= decodeMessage(input);
        const step = reading.next();
        if (step.done !== true) return;
        reading = undefined;
        frame = framed ? undefined : 0;
        if (this.hangUpAt === step.value.name) {
          socket.destroy();
          return;
        }
        const answer = encodeMessage(this.#answer(step.value));
        const length = Buffer.alloc(framed ? 4 : 0);
        if (framed) length.writeUInt32BE(answer.length);
        // In pieces, as a network delivers it.
        const whole = Buffer.concat([length, answer]);
        const middle = Math.floor(whole.length / 2);
        socket.write(whole.subarray(0, middle));
        socket.write(whole.subarray(middle));
      }
    });
  }

  #answer({ name, sequence, fields }: ThriftMessage): ThriftMessage {
    this.calls.push(name);
    const handle = this.#options.without?.includes(name) === true ? undefined : this.#methods[name];
    if (handle === undefined) {
      const error = fieldsOf({ 1: text(`Invalid method name: '${name}'`), 2: i32(1) });
      return { type: messageTypes.exception, name, sequence, fields: error };
    }
    const reply = (answer: ThriftFields): ThriftMessage => ({
      type: messageTypes.reply,
      name,
      sequence,
      fields: answer,
    });
    const nth = this.calls.filter((call) => call === name).length;
    if (this.failAt?.method === name && this.failAt.call === nth) {
      return reply(fieldsOf({ 2: struct(fieldsOf({ 1: text('the metastore is out of order') })) }));
    }
    try {
      const result = handle(fields);
      return reply(fieldsOf({ 0: result }));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return reply(fieldsOf({ [error.field]: struct(fieldsOf({ 1: text(error.message) })) }));
    }
  }

  readonly #methods: Readonly<Record<string, (fields: ThriftFields) => ThriftValue | undefined>> = {
    get_databases: (fields) => texts(matching(this.databases.keys(), textIn(fields, 1) ?? '')),
    get_database: (fields) => struct(found(this.databases.get(textIn(fields, 1) ?? ''), 1)),
    create_database: (fields) => {
      const database = structIn(fields, 1) ?? new Map();
      const name = textIn(database, 1) ?? '';
      if (this.databases.has(name)) throw new Refusal(1, `database ${name} already exists`);
      if (!/^\w+$/.test(name)) throw new Refusal(2, `${name} is not a valid database name`);
      this.databases.set(name, database);
      return undefined;
    },
    get_tables: (fields) => {
      const prefix = `${textIn(fields, 1)}.`;
      const names = [...this.tables.keys()].filter((key) => key.startsWith(prefix));
      return texts(
        matching(
          names.map((key) => key.slice(prefix.length)),
          textIn(fields, 2) ?? '',
        ),
      );
    },
    get_table: (fields) => struct(this.#table(fields, 2).fields),
    get_table_req: (fields) => {
      const request = structIn(fields, 1) ?? new Map();
      return struct(fieldsOf({ 1: struct(this.#table(request, 2).fields) }));
    },
    create_table: (fields) => {
      const table = structIn(fields, 1) ?? new Map<number, ThriftValue>();
      if (!this.databases.has(textIn(table, 2) ?? '')) throw new Refusal(2, 'no such database');
      const key = `${textIn(table, 2)}.${textIn(table, 1)}`;
      if (this.tables.has(key)) throw new Refusal(1, `table ${key} already exists`);
      this.tables.set(key, { fields: table, partitions: new Map() });
      return undefined;
    },
    alter_table: (fields) => {
      this.#table(fields, 1).fields = structIn(fields, 3) ?? new Map();
      return undefined;
    },
    get_partition_names: (fields) => texts([...this.#table(fields, 1).partitions.keys()]),
    get_partitions_by_names: (fields) => {
      const { partitions } = this.#table(fields, 2);
      return structs(textsIn(fields, 3).map((name) => found(partitions.get(name), 2)));
    },
    get_partition: (fields) => {
      const { partitions } = this.#table(fields, 2);
      return struct(found(partitions.get(JSON.stringify(textsIn(fields, 3))), 2));
    },
    add_partitions: (fields) => {
      for (const partition of structsIn(fields, 1)) {
        const { partitions } = this.#table(new Map([...partition].map(([id, value]) => [id - 1, value])), 1);
        const key = JSON.stringify(textsIn(partition, 1));
        if (partitions.has(key)) throw new Refusal(2, `partition ${key} already exists`);
        partitions.set(key, partition);
      }
      return i32(structsIn(fields, 1).length);
    },
    alter_partitions: (fields) => {
      const { partitions } = this.#table(fields, 1);
      for (const partition of structsIn(fields, 3)) {
        const key = JSON.stringify(textsIn(partition, 1));
        if (!partitions.has(key)) throw new Refusal(1, `no partition ${key}`);
        partitions.set(key, partition);
      }
      return undefined;
    },
    drop_partition: (fields) => {
      const key = JSON.stringify(textsIn(fields, 3));
      if (!this.#table(fields, 1).partitions.delete(key)) throw new Refusal(1, `no partition ${key}`);
      return bool(true);
    },
  };

  #table(fields: ThriftFields, refusal: number): StoredTable {
    const key = `${textIn(fields, 1)}.${textIn(fields, 2)}`;
    const table = this.tables.get(key);
    if (table === undefined) throw new Refusal(refusal, `${key} table not found`);
    return table;
  }
}

function found(value: ThriftFields | undefined, refusal: number): ThriftFields {
  if (value === undefined) throw new Refusal(refusal, 'no such object');
  return value;
}

/** Hive's patterns: `*` stands for anything, `|` for or. */
function matching(names: Iterable<string>, pattern: string): string[] {
  const expression = new RegExp(`^(?:${pattern.replaceAll('*', '.*')})$`, 'i');
  return [...names].filter((name) => expression.test(name));
}
