import { basePath, openApiDocument } from '@svc/contract';
import type { JsonSchema, OpenApiDocument, OpenApiOperation, OpenApiParameter } from '@svc/contract';
import { apiProof, type Caller } from './callers.ts';
import type { Framing, FuzzRequest } from './fuzz-request.ts';
import { hostileEncodings, hostileJson, hostileNumbers, hostileTexts } from './hostile-values.ts';
import { knownValues, secretPath, type Facts } from './known-values.ts';
import type { Random } from './random.ts';

const document: OpenApiDocument = openApiDocument('0');

interface Described {
  readonly template: string;
  readonly method: string;
  readonly operation: OpenApiOperation;
}

const operations: readonly Described[] = Object.entries(document.paths).flatMap(([template, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    template,
    method: method.toUpperCase(),
    operation,
  })),
);

/** A request of the HTTP API: mostly right, often wrong in one place, sometimes nonsense. */
export function apiRequest(random: Random, caller: Caller, facts: Facts, host: string): FuzzRequest {
  return new ApiRequestMaker(random, caller, facts).request(random.pick(operations), host);
}

class ApiRequestMaker {
  readonly #random: Random;
  readonly #caller: Caller;
  readonly #known: Readonly<Record<string, readonly string[]>>;

  constructor(random: Random, caller: Caller, facts: Facts) {
    this.#random = random;
    this.#caller = caller;
    this.#known = knownValues(facts);
  }

  request({ template, method, operation }: Described, host: string): FuzzRequest {
    const random = this.#random;
    const { headers: proof, isRight } = apiProof(random, this.#caller);
    const headers: [string, string][] = [
      ['host', host],
      ...proof.map(([name, value]): [string, string] => [name, value]),
    ];
    const query: string[] = [];
    let path = template;
    for (const parameter of operation.parameters ?? [])
      this.#parameter(parameter, query, headers, (value) => {
        path = path.replace(`{${parameter.name}}`, () => value);
      });
    if (random.chance(0.05))
      query.push(random.pick(['%', 'x=%zz', '&&&', 'a[b]=c', '=', 'path', 'path=&path=b']));
    // One repository stays, so that there is something to ask about.
    if (operation.operationId === 'deleteRepository') path = path.replace('fuzz-one', 'fuzz-two');
    const { body, framing } = this.#framed(this.#body(operation, headers), headers);
    return {
      surface: 'api',
      operation: operation.operationId,
      method,
      target: `${basePath}${path}${query.length === 0 ? '' : `?${query.join('&')}`}`,
      headers,
      body,
      framing,
      proof: isRight ? 'right' : 'broken',
    };
  }

  #parameter(
    parameter: OpenApiParameter,
    query: string[],
    headers: [string, string][],
    inPath: (value: string) => void,
  ): void {
    const random = this.#random;
    const { name, required, schema } = parameter;
    if (parameter.in === 'path') {
      inPath(this.#encoded(this.#text(name, 0.08)));
      return;
    }
    if (required ? random.chance(0.04) : random.chance(0.6)) return;
    const value = this.#parameterValue(name, schema);
    if (parameter.in === 'query') query.push(`${name}=${this.#encoded(value)}`);
    else headers.push([name, value.replaceAll(/[^\u0020-\u007e]/g, '')]);
  }

  /** Says how long the body is, sometimes wrongly. */
  #framed(body: Buffer | undefined, headers: [string, string][]): { body: Buffer; framing: Framing } {
    const random = this.#random;
    if (body === undefined) return { body: Buffer.alloc(0), framing: 'right' };
    if (random.chance(0.97)) {
      if (random.chance(0.9)) {
        headers.push(['content-length', String(body.length)]);
        return { body, framing: 'right' };
      }
      headers.push(['transfer-encoding', 'chunked']);
      return { body: inChunks(body, random), framing: 'right' };
    }
    switch (random.below(4)) {
      case 0:
        headers.push(['content-length', String(body.length + 1 + random.below(1000))]);
        return { body, framing: 'cut' };
      case 1:
        headers.push(['content-length', String(body.length)]);
        return { body: Buffer.concat([body, Buffer.from('GET / HTTP/1.1\r\n\r\n')]), framing: 'wild' };
      case 2:
        headers.push(['transfer-encoding', 'chunked']);
        return { body: Buffer.from('zz\r\nbad chunk\r\n0\r\n\r\n'), framing: 'wild' };
      default:
        headers.push(['content-length', String(body.length)], ['transfer-encoding', 'chunked']);
        return { body, framing: 'wild' };
    }
  }

  #body(operation: OpenApiOperation, headers: [string, string][]): Buffer | undefined {
    const random = this.#random;
    const content = operation.requestBody?.content;
    if (content === undefined) return random.chance(0.02) ? Buffer.from('unexpected') : undefined;
    if (random.chance(0.03)) return undefined;
    const schema = content['application/json']?.schema;
    if (schema === undefined) return this.#upload(headers);
    headers.push([
      'content-type',
      random.chance(0.97) ? 'application/json' : random.pick(['text/plain', 'application/xml', ';', '']),
    ]);
    if (random.chance(0.05)) return Buffer.from(random.pick(hostileJson));
    const text = JSON.stringify(this.#value('', schema, 0));
    if (random.chance(0.02)) return Buffer.from(text.slice(0, random.below(text.length)));
    if (random.chance(0.02)) return Buffer.from([...Buffer.from(text), 0xff, 0xfe]);
    return Buffer.from(text);
  }

  #upload(headers: [string, string][]): Buffer {
    const random = this.#random;
    headers.push([
      'content-type',
      random.pick([
        'application/octet-stream',
        'text/html',
        'multipart/form-data; boundary=x',
        'multipart/form-data',
        'multipart/form-data; boundary=',
        'x/y; =',
      ]),
    ]);
    if (random.chance(0.2)) headers.push([`x-lakefs-meta-${random.pick(['a', 'A', 'é', ''])}`, 'v']);
    return Buffer.from(
      random.pick([
        '',
        'data',
        'x'.repeat(random.below(40_000)),
        '--x\r\n\r\n',
        '--x--',
        '--x\r\ncontent-disposition: form-data; name="content"\r\n\r\nok\r\n--x--\r\n',
        '--x\r\ncontent-disposition: form-data; name="content"; filename="../../f"\r\n\r\nok\r\n--x--\r\n',
        `--x\r\n${'a'.repeat(20_000)}\r\n--x--\r\n`,
        '--x\r\ncontent-disposition: form-data; name="other"\r\n\r\nok\r\n',
      ]),
    );
  }

  #value(name: string, schema: JsonSchema, depth: number): unknown {
    const random = this.#random;
    if (random.chance(0.03))
      return random.pick([null, 1.5, -1, 'x', true, [], {}, 2 ** 60, [[[]]], { a: { b: {} } }]);
    const { $ref, type, enum: values } = schema;
    if (typeof $ref === 'string') {
      const target = document.components.schemas[$ref.slice($ref.lastIndexOf('/') + 1)];
      return this.#value(name, target ?? {}, depth);
    }
    if (Array.isArray(values)) return random.chance(0.9) ? random.pick(values as string[]) : 'other';
    switch (type) {
      case 'string':
        return this.#text(name, 0.25);
      case 'integer':
      case 'number':
        return random.chance(0.5) ? random.below(10) : random.pick(hostileNumbers);
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
    if (properties === undefined) {
      const entries = Array.from({ length: random.below(3) }, () => [
        this.#text('', 0.5),
        this.#text('', 0.5),
      ]);
      return Object.fromEntries(entries);
    }
    const required = new Set(schema['required'] as string[] | undefined);
    const result: Record<string, unknown> = {};
    for (const [property, inner] of Object.entries(properties)) {
      if (required.has(property) ? random.chance(0.97) : random.chance(0.4))
        result[property] = this.#value(property, inner, depth + 1);
    }
    if (random.chance(0.02)) result[random.pick(hostileTexts)] = 1;
    return result;
  }

  #parameterValue(name: string, schema: JsonSchema): string {
    const random = this.#random;
    if (random.chance(0.1)) return random.pick(hostileTexts);
    const { type, enum: values, format } = schema;
    if (Array.isArray(values)) return random.pick(values as string[]);
    if (type === 'integer')
      return random.chance(0.8)
        ? random.pick(['0', '1', '5', '1000', '-1'])
        : String(random.pick(hostileNumbers));
    if (type === 'boolean') return random.pick(['true', 'false', '1', 'F']);
    if (format === 'date-time')
      return random.pick([
        '2024-01-01T00:00:00Z',
        '1970-01-01T00:00:00.123456789+01:00',
        '9999-12-31T23:59:60Z',
      ]);
    if (name === 'Range')
      return random.pick(['bytes=0-1', 'bytes=-1', 'bytes=5-', 'bytes=-', 'bytes=9-1', 'bytes=0-0,2-3']);
    if (name.startsWith('If-')) return random.pick(['*', '"x"', 'x', 'W/"x"', '"']);
    return this.#text(name, 0.1);
  }

  #text(name: string, wrong: number): string {
    const random = this.#random;
    // Nothing that a log may show for other reasons: logs are searched for the secrets that were sent.
    if (/secret|password|token/.test(name)) return `guess-${random.below(2 ** 31)}-${random.below(2 ** 31)}`;
    const right = this.#known[name];
    if (right !== undefined && right.length > 0 && !random.chance(wrong)) {
      // Those who may read it could copy it, and then it would be nobody's secret.
      if (!this.#caller.readsSecret && /path|object/.test(name) && random.chance(0.1)) return secretPath;
      return random.pick(right);
    }
    return random.chance(0.7) ? random.pick(hostileTexts) : `t${random.below(50)}`;
  }

  #encoded(text: string): string {
    if (this.#random.chance(0.01)) return this.#random.pick(hostileEncodings);
    return encodeURIComponent(text.toWellFormed());
  }
}

/** The body in a few chunks of HTTP. */
export function inChunks(body: Buffer, random: Random): Buffer {
  const pieces: Buffer[] = [];
  for (let from = 0; from < body.length;) {
    const to = Math.min(body.length, from + 1 + random.below(body.length));
    pieces.push(Buffer.from(`${(to - from).toString(16)}\r\n`), body.subarray(from, to), Buffer.from('\r\n'));
    from = to;
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')]);
}
