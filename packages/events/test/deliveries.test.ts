import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMemStore, MemState, type KvStore } from '@svc/kv';
import { Webhook } from 'standardwebhooks';
import { afterEach, expect, test } from 'vitest';
import {
  Deliveries,
  EventLog,
  KeeperTerm,
  Subscriptions,
  SubscriptionStore,
  trimDeadLetters,
  Webhooks,
  type ChangesBetween,
  type MayRead,
  type ObjectChange,
} from '../src/index.ts';
import { retryWaits } from '../src/subscriptions/delivery-lane.ts';
import { partitionOf, silent, sourceOf, Writer } from './moves.ts';

interface Received {
  readonly ref: string;
  readonly sequence: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Answers with what `statusOf` says, and remembers what came. */
async function receiver(statusOf: (ref: string) => number): Promise<{ url: string; received: Received[] }> {
  const received: Received[] = [];
  const server: Server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      const { subject = '', sequence } = JSON.parse(body) as { subject?: string; sequence?: string };
      const ref = subject.slice(subject.indexOf('/') + 1);
      received.push({ ref, sequence: Number(sequence), headers: request.headers, body });
      response.writeHead(statusOf(ref), { location: '/elsewhere' }).end('said');
      for (const wake of waiting.splice(0)) wake();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => new Promise((resolve) => server.close(resolve)));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received };
}

const waiting: (() => void)[] = [];

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      setTimeout(resolve, 20).unref();
    });
  }
}

const secrets = {
  seal: (secret: string, boundTo: string) => Buffer.from(`${boundTo}|${secret}`),
  open: (box: Uint8Array, boundTo: string) => {
    const text = Buffer.from(box).toString();
    return text.startsWith(`${boundTo}|`) ? text.slice(boundTo.length + 1) : undefined;
  },
};

interface World {
  readonly kv: KvStore;
  readonly writer: Writer;
  readonly subscriptions: Subscriptions;
  now: number;
  permission: MayRead | undefined;
  changes: ChangesBetween;
  readonly attempts: string[];
  /** What a server does: starts delivering, until it is stopped. */
  start(): Deliveries;
  keep(): Promise<void>;
}

async function* nothing(): AsyncGenerator<ObjectChange> {}

function createWorld(allowedNetworks: readonly string[] = ['127.0.0.0/8']): World {
  const kv = createMemStore(new MemState());
  const log = new EventLog(kv);
  const store = new SubscriptionStore(kv);
  const clock = (): number => world.now;
  const webhooks = new Webhooks({
    allowedNetworks,
    secrets,
    installationId: 'i-1',
    changesBetween: (...between) => world.changes(...between),
    clock,
    resolve: (name) =>
      name === 'private.example'
        ? Promise.resolve([
            { address: '93.184.216.34', family: 4 },
            { address: '10.0.0.1', family: 4 },
          ])
        : Promise.resolve([{ address: '93.184.216.34', family: 4 }]),
  });
  let deliveries: Deliveries | undefined;
  const world: World = {
    kv,
    writer: new Writer(kv),
    now: 1_700_000_000_000,
    permission: () => true,
    changes: () => nothing(),
    attempts: [],
    subscriptions: new Subscriptions({
      store,
      log,
      webhooks,
      secrets,
      clock,
      onChanged: () => deliveries?.wake(),
    }),
    start() {
      deliveries = new Deliveries({
        store,
        log: new EventLog(kv),
        send: (...args) => webhooks.send(...args),
        permissionOf: () => Promise.resolve(world.permission),
        clock,
        random: () => 0.5,
        logger: silent,
        onAttempt: (outcome) => world.attempts.push(outcome),
      });
      deliveries.start();
      const started = deliveries;
      ends.push(() => started.stop());
      return started;
    },
    async keep() {
      const source = sourceOf(['one']);
      const term = await KeeperTerm.begin({ kv, source, logger: silent, clock: Date.now });
      await term.round([partitionOf('one')]);
      deliveries?.wake();
    },
  };
  return world;
}

test('an event is signed as Standard Webhooks says, with both secrets while one follows the other', async () => {
  const world = createWorld();
  const { url, received } = await receiver(() => 204);
  const { data, secret } = await world.subscriptions.create({ url, headers: { 'x-team': 'data' } }, 'anna');
  world.start();
  await world.writer.move('one', 'main');
  await world.keep();
  await until(() => received.length === 1);
  const [first] = received;
  const { id } = JSON.parse(first?.body ?? '') as { id: string };
  const signatureBy = (key: string, { headers, body }: Received): string =>
    `v1,${createHmac('sha256', Buffer.from(key.slice('whsec_'.length), 'base64'))
      .update(`${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`)
      .digest('base64')}`;
  expect(first?.headers).toMatchObject({
    'webhook-id': id,
    'webhook-timestamp': '1700000000',
    'content-type': 'application/cloudevents+json',
    'x-team': 'data',
    'webhook-signature': first === undefined ? '' : signatureBy(secret, first),
  });
  const next = await world.subscriptions.rotateSecret(data.id);
  await world.writer.move('one', 'main');
  await world.keep();
  await until(() => received.length === 2);
  const [, second] = received;
  if (second === undefined) throw new Error('nothing came');
  expect(second.headers['webhook-signature']).toBe(
    `${signatureBy(next, second)} ${signatureBy(secret, second)}`,
  );
  // Neither secret nor header is in the store as it is.
  expect((await world.subscriptions.get(data.id)).headerNames).toEqual(['x-team']);
});

test('in the format of S3 an event ends at the first message that fails, and comes again as a whole', async () => {
  const world = createWorld();
  let refusals = 1;
  const { url, received } = await receiver(() => {
    if (received.length === 1 && refusals > 0) {
      refusals -= 1;
      return 500;
    }
    return 200;
  });
  await expect(world.subscriptions.create({ url, format: 'xml' }, 'anna')).rejects.toThrow(
    "format: 'xml' is none of cloudevents, s3",
  );
  const asked: string[] = [];
  world.changes = async function* (repository) {
    asked.push(repository);
    if (asked.length === 1) throw new Error('the store is away');
    for (let index = 0; index < 150; index += 1) {
      yield { type: 'written', path: `f${index}`, size: 1, etag: 'e' };
    }
  };
  const { data } = await world.subscriptions.create({ url, format: 's3' }, 'anna');
  const deliveries = world.start();
  await world.writer.move('one', 'main');
  await world.writer.move('one', 'main');
  await world.keep();
  const failed = async (times: number): Promise<void> => {
    await until(() => world.attempts.filter((outcome) => outcome === 'failed').length === times);
    world.now += 3_600_000;
    deliveries.wake();
  };
  await failed(1);
  await failed(2);
  await until(() => world.attempts.filter((outcome) => outcome === 'delivered').length === 2);
  const ids = received.map(({ headers }) => String(headers['webhook-id']).split('.')[1]);
  expect([ids, asked]).toEqual([
    ['1', '1', '2'],
    ['one', 'one', 'one'],
  ]);
  const tested = await world.subscriptions.test(data.id, 'anna');
  expect([tested.status, received.at(-1)?.body]).toEqual([200, expect.stringContaining('s3:TestEvent')]);
});

test('a failing branch holds up only itself, and its events come in order later', async () => {
  const world = createWorld();
  let isBroken = true;
  const { url, received } = await receiver((ref) => (ref === 'bad' && isBroken ? 500 : 200));
  await world.subscriptions.create({ url }, 'anna');
  const deliveries = world.start();
  for (const ref of ['bad', 'good', 'bad', 'other', 'good', 'bad']) await world.writer.move('one', ref);
  await world.keep();
  const refs = (ref: string): number[] =>
    received.filter((one) => one.ref === ref).map(({ sequence }) => sequence);
  await until(() => refs('good').length === 2 && refs('other').length === 1 && refs('bad').length === 1);
  expect(refs('good')).toEqual([2, 5]);
  // Nothing more is tried before its time.
  deliveries.wake();
  expect(refs('bad')).toEqual([1]);
  isBroken = false;
  world.now += 6000;
  deliveries.wake();
  await until(() => refs('bad').length === 4);
  expect(refs('bad')).toEqual([1, 1, 3, 6]);
});

test('the published library of Standard Webhooks accepts what is signed, also while secrets change, and nothing else', async () => {
  const world = createWorld();
  // The library compares with its own clock.
  world.now = Date.now();
  const { url, received } = await receiver(() => 204);
  const { data, secret } = await world.subscriptions.create({ url }, 'anna');
  const next = await world.subscriptions.rotateSecret(data.id);
  world.start();
  await world.writer.move('one', 'main');
  await world.keep();
  await until(() => received.length === 1);
  const [first] = received;
  if (first === undefined) throw new Error('nothing came');
  const headers = first.headers as Record<string, string>;
  for (const key of [secret, next]) {
    expect(new Webhook(key).verify(first.body, headers)).toMatchObject({ subject: 'branch/main' });
    expect(() => new Webhook(key).verify(`${first.body} `, headers)).toThrow();
  }
  expect(() =>
    new Webhook(`whsec_${Buffer.alloc(32).toString('base64')}`).verify(first.body, headers),
  ).toThrow();
});

test('what is refused for good becomes a dead letter, the rest goes on, and it can be sent again', async () => {
  const world = createWorld();
  let isBroken = true;
  const { url, received } = await receiver(() => (isBroken ? 302 : 200));
  const { data } = await world.subscriptions.create({ url }, 'anna');
  const deliveries = world.start();
  await world.writer.move('one', 'main');
  await world.keep();
  const deadOf = async (): Promise<number[]> => {
    const dead: number[] = [];
    for await (const { sequence } of world.subscriptions.store.listDead(data.id)) dead.push(sequence);
    return dead;
  };
  for (const [index, wait] of retryWaits.entries()) {
    await until(() => world.attempts.length === index + 1);
    expect(world.attempts.at(-1)).toBe('failed');
    world.now += wait;
    deliveries.wake();
  }
  await until(async () => (await deadOf()).length === 1);
  expect(world.attempts.at(-1)).toBe('dead');
  expect(received).toHaveLength(retryWaits.length + 1);
  isBroken = false;
  await world.writer.move('one', 'main');
  await world.keep();
  await until(() => world.attempts.at(-1) === 'delivered');
  expect(received.at(-1)?.sequence).toBe(2);
  const trim = () => trimDeadLetters(world.kv, { now: world.now, mayGoOn: () => Promise.resolve(true) });
  world.now += 29 * 24 * 3_600_000;
  await trim();
  const dead = await world.subscriptions.store.findDead(data.id, 1);
  expect(dead).toBeDefined();
  expect(await world.subscriptions.redeliver(data.id, 'all')).toBe(1);
  await until(async () => (await deadOf()).length === 0);
  expect(received.at(-1)?.sequence).toBe(1);
  // One that nobody asks for goes after thirty days.
  if (dead === undefined) throw new Error('no dead letter');
  await world.subscriptions.store.addDead(data.id, 1, dead);
  world.now += 31 * 24 * 3_600_000;
  await trim();
  expect(await deadOf()).toEqual([]);
});

test('delivering goes on after a restart where it was, and stops when it is not wanted', async () => {
  const world = createWorld();
  const statuses = new Map([['gone', 410]]);
  const { url, received } = await receiver((ref) => statuses.get(ref) ?? 200);
  const { data } = await world.subscriptions.create({ url, types: ['svc.branch.*'] }, 'anna');
  const first = world.start();
  await world.writer.move('one', 'main');
  await world.keep();
  await until(() => received.length === 1);
  await first.stop();
  await world.writer.move('one', 'main');
  await world.keep();
  expect(received).toHaveLength(1);
  world.start();
  await until(() => received.length === 2);
  expect(received.map(({ sequence }) => sequence)).toEqual([1, 2]);
  await world.writer.move('one', 'gone');
  await world.keep();
  await until(async () => !(await world.subscriptions.get(data.id)).enabled);
  expect((await world.subscriptions.get(data.id)).disabledReason).toContain('410');
  await expect(world.subscriptions.redeliver(data.id, 'all')).rejects.toMatchObject({ kind: 'conflict' });
});

test('nobody is told what the owner may not read, and nothing once the owner is gone', async () => {
  const world = createWorld();
  const { url, received } = await receiver(() => 200);
  const { data } = await world.subscriptions.create({ url }, 'anna');
  world.permission = (event) => event.subject !== 'branch/secret';
  const deliveries = world.start();
  for (const ref of ['secret', 'main']) await world.writer.move('one', ref);
  await world.keep();
  await until(() => received.length === 1);
  expect(received[0]?.ref).toBe('main');
  world.permission = undefined;
  deliveries.wake();
  await until(async () => !(await world.subscriptions.get(data.id)).enabled);
  expect((await world.subscriptions.get(data.id)).disabledReason).toContain('owner');
});

test('addresses inside are refused when a subscription is made, and allowed once their network is named', async () => {
  const world = createWorld([]);
  const create = (url: string, more: object = {}) => world.subscriptions.create({ url, ...more }, 'anna');
  for (const url of [
    'http://169.254.169.254/',
    'https://169.254.169.254/latest',
    'http://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[64:ff9b::10.0.0.1]/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://private.example/',
    'http://public.example/',
    'https://user:secret@public.example/',
    'https://public.example:22/',
    'https://public.example/#part',
    'ftp://public.example/',
    '/relative',
  ]) {
    await expect(create(url), url).rejects.toMatchObject({ kind: 'invalid', message: /^url: / });
  }
  await create('https://public.example/');
  await expect(create('https://public.example/', { types: ['svc.none'] })).rejects.toMatchObject({
    message: /^types: /,
  });
  await expect(create('https://public.example/', { headers: { Host: 'x' } })).rejects.toMatchObject({
    message: /^headers: /,
  });
  await expect(create('https://public.example/', { from: '7' })).rejects.toMatchObject({
    message: /^from: /,
  });
  const allowed = createWorld(['169.254.169.254/32', '10.0.0.0/8', '127.0.0.0/8']);
  for (const url of ['http://169.254.169.254/', 'https://private.example/', 'http://[::ffff:127.0.0.1]/']) {
    await allowed.subscriptions.create({ url }, 'anna');
  }
});
