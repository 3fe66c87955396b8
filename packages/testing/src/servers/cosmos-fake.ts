// Cosmos DB's REST protocol as its public documentation describes it, as far as the driver uses it: signatures, ETags,
// continuation tokens, partition keys, transactional batches, limits. It holds everything in memory.
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { scriptedService, type ServiceAnswer, type ServiceCall } from './scripted-service.ts';

interface Document extends Record<string, unknown> {
  readonly id: string;
  readonly _etag: string;
}
type Partition = Map<string, Document>;
interface Container {
  readonly definition: { id: string; partitionKey: { paths: string[] } };
  readonly headers: ServiceCall['headers'];
  readonly partitions: Map<string, Partition>;
}

export interface CosmosFake {
  readonly endpoint: string;
  readonly key: string;
  readonly containers: ReadonlyMap<string, Container>;
  consistency: string;
  multipleWriteRegions: boolean;
  /** Asked before a request is served; `then cut` serves it and loses the answer. */
  fault: ((call: ServiceCall) => ServiceAnswer | 'then cut' | undefined) | undefined;
}

const maxBytes = 2 * 1024 * 1024;
/** Pages are cut shorter than asked for, as the service may do. */
const largestPage = 300;

export async function cosmosFake(): Promise<CosmosFake> {
  const key = randomBytes(64).toString('base64');
  const containers = new Map<string, Container>();
  const databases = new Set<string>();
  const fake: CosmosFake = {
    endpoint: await scriptedService((call) => {
      const fault = fake.fault?.(call);
      if (fault !== undefined && fault !== 'then cut') return fault;
      const answer = serve(call);
      return fault === undefined ? answer : 'cut';
    }),
    key,
    containers,
    consistency: 'Strong',
    multipleWriteRegions: false,
    fault: undefined,
  };

  function serve(call: ServiceCall): ServiceAnswer {
    const parts = call.path
      .split('/')
      .slice(1)
      .map(decodeURIComponent)
      .filter((part) => part !== '');
    if (!isSigned(call, parts, key))
      return refused(401, 'The input authorization token cannot serve the request.');
    if (call.headers['x-ms-version'] === undefined) return refused(400, 'x-ms-version is missing');
    if (parts.length === 0) {
      return {
        body: {
          userConsistencyPolicy: { defaultConsistencyLevel: fake.consistency },
          enableMultipleWriteLocations: fake.multipleWriteRegions,
        },
      };
    }
    const [, database = '', , name = '', , id] = parts;
    if (parts.length === 1) return createOnce(databases, (JSON.parse(call.body) as { id: string }).id);
    if (parts.length === 3) {
      if (!databases.has(database)) return refused(404, 'no such database');
      const definition = JSON.parse(call.body) as Container['definition'];
      const link = `${database}/${definition.id}`;
      if (containers.has(link)) return refused(409, 'exists');
      containers.set(link, { definition, headers: call.headers, partitions: new Map() });
      return { status: 201, body: definition };
    }
    const container = containers.get(`${database}/${name}`);
    if (container === undefined) {
      return {
        ...(refused(404, 'Owner resource does not exist') as object),
        headers: parts.length > 4 ? { 'x-ms-substatus': '1003' } : {},
      };
    }
    if (parts.length === 4) return { body: container.definition };
    return serveDocuments(container, call, id);
  }
  return fake;
}

function createOnce(names: Set<string>, name: string): ServiceAnswer {
  if (names.has(name)) return refused(409, 'exists');
  names.add(name);
  return { status: 201, body: { id: name } };
}

/** The signature over verb, resource type, resource and date. */
function isSigned({ method, headers }: ServiceCall, parts: readonly string[], key: string): boolean {
  // An odd number of segments names a feed: what is signed is its parent.
  const isFeed = parts.length % 2 === 1;
  const type = isFeed ? parts.at(-1) : (parts.at(-2) ?? '');
  const link = (isFeed ? parts.slice(0, -1) : parts).join('/');
  const date = String(headers['x-ms-date']);
  const text = `${method.toLowerCase()}\n${type}\n${link}\n${date.toLowerCase()}\n\n`;
  const sig = createHmac('sha256', Buffer.from(key, 'base64')).update(text).digest('base64');
  return headers['authorization'] === encodeURIComponent(`type=master&ver=1.0&sig=${sig}`);
}

function serveDocuments(container: Container, call: ServiceCall, id: string | undefined): ServiceAnswer {
  const { headers, method, body } = call;
  if (Buffer.byteLength(body) > maxBytes) return refused(413, 'Request size is too large');
  const isQuery = headers['x-ms-documentdb-isquery'] === 'True';
  const given = headers['x-ms-documentdb-partitionkey'];
  if (given === undefined) {
    if (!isQuery || headers['x-ms-documentdb-query-enablecrosspartition'] !== 'True') {
      return refused(400, 'x-ms-documentdb-partitionkey is missing');
    }
    const all = [...container.partitions.values()].flatMap((each) => [...each.values()]);
    return query(all, call);
  }
  const [name = ''] = JSON.parse(String(given)) as string[];
  const stored: Partition = container.partitions.get(name) ?? new Map<string, Document>();
  container.partitions.set(name, stored);
  if (isQuery) return query([...stored.values()], call);
  const match = headers['if-match'];
  if (headers['x-ms-cosmos-is-batch-request'] === 'True') return batch(container, name, call);
  if (id === undefined) {
    const isUpsert = headers['x-ms-documentdb-is-upsert'] === 'True';
    return single(
      apply(stored, name, {
        operationType: isUpsert ? 'Upsert' : 'Create',
        resourceBody: JSON.parse(body) as Document,
      }),
    );
  }
  const operationType =
    ({ GET: 'Read', PUT: 'Replace', DELETE: 'Delete' } as Record<string, string>)[method] ?? '';
  return single(
    apply(stored, name, {
      operationType,
      id,
      ...(match !== undefined && { ifMatch: match }),
      ...(method === 'PUT' && { resourceBody: JSON.parse(body) as Document }),
    }),
  );
}

interface BatchOperation {
  readonly operationType: string;
  readonly id?: string;
  readonly ifMatch?: string;
  readonly resourceBody?: Document;
}
interface Outcome {
  readonly statusCode: number;
  readonly eTag?: string;
  readonly resourceBody?: Document;
}

function apply(stored: Partition, partition: string, operation: BatchOperation): Outcome {
  const { operationType, resourceBody, ifMatch } = operation;
  const id = operation.id ?? resourceBody?.id ?? '';
  const current = stored.get(id);
  if (operationType === 'Create' && current !== undefined) return { statusCode: 409 };
  if (['Replace', 'Delete', 'Read'].includes(operationType) && current === undefined)
    return { statusCode: 404 };
  if (ifMatch !== undefined && current?._etag !== ifMatch) return { statusCode: 412 };
  if (operationType === 'Delete') {
    stored.delete(id);
    return { statusCode: 204 };
  }
  if (operationType === 'Read')
    return { statusCode: 200, ...(current && { resourceBody: current, eTag: current._etag }) };
  if (resourceBody?.id !== id || resourceBody['partitionKey'] !== partition) return { statusCode: 400 };
  const written = { ...resourceBody, _etag: `"${randomUUID()}"` };
  stored.set(id, written);
  return { statusCode: current === undefined ? 201 : 200, eTag: written._etag, resourceBody: written };
}

function single({ statusCode, eTag, resourceBody }: Outcome): ServiceAnswer {
  if (statusCode >= 400) return refused(statusCode, 'refused');
  return {
    status: statusCode,
    ...(eTag !== undefined && { headers: { etag: eTag } }),
    body: resourceBody ?? {},
  };
}

function batch(container: Container, partition: string, { body, headers }: ServiceCall): ServiceAnswer {
  const operations = JSON.parse(body) as BatchOperation[];
  if (operations.length > 100)
    return refused(400, 'Batch request has more operations than what is supported');
  if (headers['x-ms-cosmos-batch-atomic'] !== 'True') return refused(400, 'only atomic batches');
  const stored = container.partitions.get(partition) ?? new Map<string, Document>();
  const before = new Map<string, Document | undefined>();
  const outcomes: Outcome[] = [];
  for (const operation of operations) {
    const id = operation.id ?? operation.resourceBody?.id ?? '';
    if (!before.has(id)) before.set(id, stored.get(id));
    const outcome = apply(stored, partition, operation);
    outcomes.push(outcome);
    if (outcome.statusCode >= 400) {
      for (const [each, document] of before) {
        if (document === undefined) stored.delete(each);
        else stored.set(each, document);
      }
      const others = operations.map((_, index) =>
        index === outcomes.length - 1 ? { statusCode: outcome.statusCode } : { statusCode: 424 },
      );
      return { status: 207, body: others };
    }
  }
  return { body: outcomes };
}

/** Just the forms of queries the driver sends. */
function query(documents: readonly Document[], { headers, body }: ServiceCall): ServiceAnswer {
  if (headers['content-type'] !== 'application/query+json') return refused(400, 'content-type');
  const { query: text, parameters } = JSON.parse(body) as {
    query: string;
    parameters: { name: string; value: unknown }[];
  };
  const value = new Map(parameters.map((each) => [each.name, each.value]));
  const form = /^SELECT (?<columns>.+) FROM c(?: WHERE (?<where>.+?))?(?<order> ORDER BY c\.key ASC)?$/.exec(
    text,
  )?.groups;
  if (form === undefined) return refused(400, `Syntax error: ${text}`);
  const conditions = (form['where'] ?? '').split(' AND ').filter((each) => each !== '');
  const holds = (document: Document): boolean =>
    conditions.every((condition) => {
      const key = String(document['key']);
      if (condition === 'c.key >= @lower') return key >= String(value.get('@lower'));
      if (condition === 'c.key < @upper') return key < String(value.get('@upper'));
      if (condition === 'ARRAY_CONTAINS(@ids, c.id)')
        return (value.get('@ids') as string[]).includes(document.id);
      throw new Error(`unknown condition ${condition}`);
    });
  const columns = (form['columns'] ?? '').split(', ').map((each) => each.replace(/^c\.|^c\["|"\]$/g, ''));
  const found = documents.filter(holds);
  if (form['order'] !== undefined) found.sort((a, b) => (String(a['key']) < String(b['key']) ? -1 : 1));
  const start = Number(headers['x-ms-continuation'] ?? 0);
  const end = start + Math.min(Number(headers['x-ms-max-item-count'] ?? 100), largestPage);
  const rows = found
    .slice(start, end)
    .map((document) => Object.fromEntries(columns.map((name) => [name, document[name]])));
  return {
    ...(end < found.length && { headers: { 'x-ms-continuation': String(end) } }),
    body: { _count: rows.length, Documents: rows },
  };
}

function refused(status: number, message: string): ServiceAnswer {
  return { status, body: { code: String(status), message } };
}
