import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitUntil } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { quickstartAuth, startSvc, type RunningSvc } from './start-server.ts';

interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly status: { readonly code?: number };
}

interface Received {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: ReceivedSpan['attributes'] };
    readonly scopeSpans: readonly { readonly spans: readonly ReceivedSpan[] }[];
  }[];
}

const spans: ReceivedSpan[] = [];
const documents: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: Received }[] =
  [];
const hooked: IncomingHttpHeaders[] = [];
let refusing = false;

/** Takes traces as a collector does, and the calls of webhooks. */
const receiver = createServer((request, response) => {
  let text = '';
  request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  request.on('end', () => {
    if (request.url === '/hook') hooked.push(request.headers);
    else if (!refusing) {
      const body = JSON.parse(text) as Received;
      documents.push({ path: request.url ?? '', headers: request.headers, body });
      spans.push(
        ...body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
      );
    }
    response.writeHead(refusing ? 503 : 200).end('{}');
  });
});

let server: RunningSvc;
let collector: string;
const authorization = { authorization: quickstartAuth, 'content-type': 'application/json' };

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  collector = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  server = await startSvc(['--quickstart'], {
    SVC_TRACING_ENDPOINT: `${collector}/`,
    SVC_TRACING_HEADERS: 'x-tenant=data',
    SVC_TRACING_SERVICE_NAME: 'lake',
    SVC_TRACING_SAMPLE_RATIO: '0',
    SVC_SERVER_WORKERS: '1',
  });
});
afterAll(async () => {
  await server.stop();
  receiver.close();
  receiver.closeAllConnections();
});

const traceOf = (id: string): Promise<ReceivedSpan[]> =>
  waitUntil(
    () => {
      const found = spans.filter(({ traceId }) => traceId === id);
      return found.some(({ kind }) => kind === 2) ? found : undefined;
    },
    { what: 'the spans of a request' },
  );

async function call(trace: string | undefined, method: string, path: string, body?: object) {
  const answer = await server.request(`/api/v1${path}`, {
    method,
    headers: {
      ...authorization,
      ...(trace !== undefined && { traceparent: `00-${trace}-00f067aa0ba902b7-01` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  expect(answer.status, answer.body).toBeLessThan(300);
  return answer;
}

const id = (digit: string): string => digit.repeat(32);

test('a request shows what it did and what it waited for, below the span of whoever sent it', async () => {
  await call(id('1'), 'POST', '/repositories', { name: 'traced', storage_namespace: 'local://traced' });
  const trace = await traceOf(id('1'));
  const [root] = trace.filter(({ kind }) => kind === 2);
  expect(root).toMatchObject({ name: 'API createRepository', parentSpanId: '00f067aa0ba902b7', status: {} });
  expect(root?.attributes).toContainEqual({ key: 'http.response.status_code', value: { intValue: '201' } });
  const operation = trace.find(({ name }) => name === 'repositories.create');
  expect(operation?.parentSpanId).toBe(root?.spanId);
  const below = trace
    .filter(({ parentSpanId }) => parentSpanId === operation?.spanId)
    .map(({ name }) => name);
  expect(below).toContainEqual(expect.stringMatching(/^kv /));
  expect(below).toContainEqual(expect.stringMatching(/^block /));
  for (const { startTimeUnixNano, endTimeUnixNano } of trace) {
    expect(BigInt(endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano));
    expect(startTimeUnixNano).toMatch(/^1\d{18}$/);
  }
  const [document] = documents;
  expect(document).toMatchObject({ path: '/v1/traces', headers: { 'x-tenant': 'data' } });
  expect(document?.body.resourceSpans[0]?.resource.attributes).toContainEqual({
    key: 'service.name',
    value: { stringValue: 'lake' },
  });
});

test('a webhook is told the trace of the operation it decides about', async () => {
  const action = `name: ask\non:\n  pre-commit:\nhooks:\n  - id: ask_them\n    type: webhook\n    properties:\n      url: ${collector}/hook\n`;
  const upload = await server.request(
    '/api/v1/repositories/traced/branches/main/objects?path=_svc_actions/ask.yaml',
    {
      method: 'POST',
      headers: { authorization: quickstartAuth, 'content-type': 'application/octet-stream' },
      body: action,
    },
  );
  expect(upload.status).toBe(201);
  await call(id('2'), 'POST', '/repositories/traced/branches/main/commits', { message: 'asked' });
  const trace = await traceOf(id('2'));
  const sent = trace.find(({ name }) => name === 'HTTP POST');
  expect(hooked[0]?.['traceparent']).toBe(`00-${id('2')}-${sent?.spanId}-01`);
});

test('nothing is recorded of requests that nobody asked to trace', async () => {
  await call(undefined, 'GET', '/repositories');
  await call(id('3'), 'GET', '/repositories');
  await traceOf(id('3'));
  const roots = spans.filter(({ name }) => name === 'API listRepositories');
  expect(roots.map(({ traceId }) => traceId)).toEqual([id('3')]);
});

test('a collector that refuses costs spans, not requests, and is told of once', async () => {
  refusing = true;
  await call(id('4'), 'GET', '/repositories');
  await waitUntil(() => server.stdout.includes('traces cannot be exported'), { what: 'the warning' });
  await call(id('5'), 'GET', '/repositories');
  const dropped = async (): Promise<number> =>
    Number(
      /svc_trace_spans_total\{outcome="dropped"\} (\d+)/.exec((await server.request('/metrics')).body)?.[1],
    );
  await waitUntil(async () => ((await dropped()) >= 2 ? true : undefined), { what: 'dropped spans' });
  refusing = false;
  await call(id('6'), 'GET', '/repositories');
  await traceOf(id('6'));
  expect(server.stdout.match(/traces cannot be exported/g)).toHaveLength(1);
});
