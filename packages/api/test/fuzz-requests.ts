import { openApiDocument } from '@svc/contract';
import type { JsonSchema, OpenApiDocument, OpenApiOperation } from '@svc/contract';

/** A small seeded generator: a failing run can be repeated. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item;
  }
}

export interface FuzzRequest {
  readonly operationId: string;
  readonly method: string;
  /** Below the base path, encoded. */
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

const junk = [
  '',
  ' ',
  '0',
  '-1',
  'null',
  '../../etc/passwd',
  'a/b',
  'main~1',
  'main^^2',
  'main@',
  'main$',
  'HEAD~999999999999',
  '%2e%2e',
  '\u0000',
  '\u{1F600}',
  'é'.repeat(600),
  'x'.repeat(2000),
  "';--",
  '{{7*7}}',
  '\r\nx: y',
  '__proto__',
  'constructor',
  'DRxxxxxxxxxxxxxxxxxxxx',
  'ffffffffffffffffffff',
  '9999999999999999999999',
  '1e309',
] as const;

const known: Readonly<Record<string, readonly string[]>> = {
  repository: ['fuzz-one', 'fuzz-one', 'fuzz-one', 'fuzz-two'],
  branch: ['main', 'dev'],
  ref: ['main', 'dev', 'v1', 'main~1', 'main$'],
  sourceRef: ['main', 'dev', 'v1'],
  destinationBranch: ['main', 'dev'],
  leftRef: ['main', 'dev', 'v1'],
  rightRef: ['main', 'dev', 'dev$'],
  tag: ['v1', 'v2'],
  commitId: ['main', 'dev~1', 'v1'],
  userId: ['bob', 'carol'],
  groupId: ['Viewers', 'team'],
  policyId: ['FSReadAll', 'custom'],
  type: ['range', 'meta_range'],
  partNumber: ['1', '10000', '0'],
  path: ['a', 'dir/b', 'dir/', 'none'],
  dest_path: ['copy', 'dir/copy'],
  src_path: ['a', 'dir/b'],
  name: ['fuzz-two', 'dev', 'topic'],
  source: ['main', 'dev'],
  id: ['bob', 'team', 'custom', 'v2'],
  storage_namespace: ['mem://fuzz-two', 'mem://fuzz-three/x', 's3://elsewhere'],
  source_branch: ['dev', 'main'],
  destination_branch: ['main', 'dev'],
  pattern: ['stable_*', '[', 'main'],
  physical_address: ['mem://elsewhere/x', 'mem://fuzz-one/data/x', 'data/x', ''],
};

/** Makes requests from the OpenAPI document: mostly right, often wrong in one place, sometimes nonsense. */
export function* fuzzRequests(seed: number, count: number): Generator<FuzzRequest> {
  const random = new Random(seed);
  const document = openApiDocument('0');
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const maker = new RequestMaker(random, document);
  for (let index = 0; index < count; index++) {
    const { path, method, operation } = random.pick(operations);
    yield maker.request(path, method, operation);
  }
}

class RequestMaker {
  readonly #random: Random;
  readonly #document: OpenApiDocument;

  constructor(random: Random, document: OpenApiDocument) {
    this.#random = random;
    this.#document = document;
  }

  request(template: string, method: string, operation: OpenApiOperation): FuzzRequest {
    const random = this.#random;
    const headers: Record<string, string> = {};
    const query: string[] = [];
    let path = template;
    for (const parameter of operation.parameters ?? []) {
      if (parameter.in === 'path') {
        path = path.replace(`{${parameter.name}}`, this.#encoded(this.#text(parameter.name, 0.05)));
      } else if (parameter.required || random.chance(0.4)) {
        if (parameter.required && random.chance(0.05)) continue;
        const value = this.#parameterValue(parameter.name, parameter.schema);
        if (parameter.in === 'query') query.push(`${parameter.name}=${this.#encoded(value)}`);
        else headers[parameter.name.toLowerCase()] = value.replaceAll(/[^\u0020-\u007e]/g, '');
      }
    }
    if (random.chance(0.05)) query.push(random.pick(['%', 'x=%zz', '&&&', 'a[b]=c', '=', 'path']));
    // One repository stays, so that there is something to ask about.
    if (operation.operationId === 'deleteRepository') path = path.replace('fuzz-one', 'fuzz-two');
    const search = query.length === 0 ? '' : `?${query.join('&')}`;
    const body = this.#body(operation, headers);
    return { operationId: operation.operationId, method, path: path + search, headers, body };
  }

  #body(operation: OpenApiOperation, headers: Record<string, string>): string | undefined {
    const random = this.#random;
    const content = operation.requestBody?.content;
    if (content === undefined) return random.chance(0.02) ? 'unexpected' : undefined;
    if (random.chance(0.03)) return undefined;
    const schema = content['application/json']?.schema;
    if (schema === undefined) {
      headers['content-type'] = random.pick([
        'text/plain',
        'multipart/form-data; boundary=x',
        'multipart/form-data',
        'x/y; =',
      ]);
      return random.pick([
        '',
        'data',
        '--x\r\n\r\n',
        '--x\r\ncontent-disposition: form-data; name="content"\r\n\r\nok\r\n--x--\r\n',
      ]);
    }
    headers['content-type'] = random.chance(0.97)
      ? 'application/json'
      : random.pick(['text/plain', 'application/xml', ';']);
    if (random.chance(0.04))
      return random.pick(['', '{', '[]', 'null', '"x"', '{"a":'.repeat(5000), '[['.repeat(50_000)]);
    return JSON.stringify(this.#value('', schema, 0));
  }

  #value(name: string, schema: JsonSchema, depth: number): unknown {
    const random = this.#random;
    if (random.chance(0.03))
      return random.pick([null, 1.5, -1, 'x', true, [], {}, 2 ** 60, [[[]]], { a: { b: {} } }]);
    const { $ref, type, enum: values } = schema;
    if (typeof $ref === 'string') {
      const target = this.#document.components.schemas[$ref.slice($ref.lastIndexOf('/') + 1)];
      return this.#value(name, target ?? {}, depth);
    }
    if (Array.isArray(values)) return random.chance(0.9) ? random.pick(values as string[]) : 'other';
    switch (type) {
      case 'string':
        return this.#text(name, 0.25);
      case 'integer':
        return random.pick([0, 1, 2, -1, 100, 2 ** 31, Number.MAX_SAFE_INTEGER]);
      case 'boolean':
        return random.chance(0.5);
      case 'array':
        return Array.from({ length: random.below(4) }, () =>
          this.#value(name, schema['items'] as JsonSchema, depth + 1),
        );
      default:
        return this.#object(schema, depth);
    }
  }

  #object(schema: JsonSchema, depth: number): unknown {
    const random = this.#random;
    const properties = schema['properties'] as Record<string, JsonSchema> | undefined;
    if (properties === undefined) return { [this.#text('', 0.5)]: this.#text('', 0.5) };
    const required = new Set(schema['required'] as string[] | undefined);
    const result: Record<string, unknown> = {};
    for (const [property, inner] of Object.entries(properties)) {
      if (required.has(property) ? random.chance(0.97) : random.chance(0.4)) {
        result[property] = this.#value(property, inner, depth + 1);
      }
    }
    return result;
  }

  #parameterValue(name: string, schema: JsonSchema): string {
    const random = this.#random;
    if (random.chance(0.1)) return random.pick(junk);
    const { type, enum: values, format } = schema;
    if (Array.isArray(values)) return random.pick(values as string[]);
    if (type === 'integer') return random.pick(['0', '1', '5', '1000', '-1']);
    if (type === 'boolean') return random.pick(['true', 'false', '1', 'F']);
    if (format === 'date-time')
      return random.pick(['2024-01-01T00:00:00Z', '1970-01-01T00:00:00.123456789+01:00']);
    if (name === 'Range') return random.pick(['bytes=0-1', 'bytes=-1', 'bytes=5-', 'bytes=-', 'bytes=9-1']);
    if (name.startsWith('If-')) return random.pick(['*', '"x"', 'x']);
    return this.#text(name, 0.1);
  }

  #text(name: string, wrong: number): string {
    const random = this.#random;
    const right = known[name];
    if (right !== undefined && !random.chance(wrong)) return random.pick(right);
    return random.chance(0.5) ? random.pick(junk) : `t${random.below(50)}`;
  }

  #encoded(text: string): string {
    if (this.#random.chance(0.01)) return this.#random.pick(['%', '%zz', '%ff', '%c0%af', '%00']);
    return encodeURIComponent(text);
  }
}
