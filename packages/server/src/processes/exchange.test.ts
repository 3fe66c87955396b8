import { expect, test, vi } from 'vitest';
import { ExchangeHub } from './exchange-hub.ts';
import type { Member } from './exchange-hub.ts';
import { ExchangeCacheBus, WorkerExchange } from './exchange.ts';
import type { Role, ToPrimary, ToWorker } from './messages.ts';

/** Processes joined by queues instead of pipes. */
function house(patienceMs = 60_000) {
  const silences: number[] = [];
  const hub = new ExchangeHub({ patienceMs, onSilence: (_, silent) => silences.push(silent) });
  const join = (role: Role = 'http') => {
    let silent = false;
    const member: Member = {
      role,
      send(message: ToWorker) {
        if (silent) return;
        const copy = structuredClone(message);
        queueMicrotask(() => {
          if (copy.type === 'asked' || copy.type === 'answers' || copy.type === 'told')
            exchange.receive(copy);
        });
      },
    };
    const exchange: WorkerExchange = new WorkerExchange((message: ToPrimary) => {
      if (message.type === 'ask' || message.type === 'answer' || message.type === 'tell')
        queueMicrotask(() => hub.receive(member, message));
    });
    hub.join(member);
    return {
      exchange,
      bus: new ExchangeCacheBus(exchange),
      leave: () => hub.leave(member),
      silence: () => (silent = true),
    };
  };
  return { hub, join, silences };
}

test('publish resolves after every other process has dropped its copy', async () => {
  const { join } = house();
  const [a, b, c] = [join(), join(), join()];
  const dropped: string[] = [];
  for (const [name, process] of Object.entries({ a, b, c })) {
    process.bus.subscribe('policies', (key) => dropped.push(`${name}:${key}`));
    process.bus.subscribe('other', () => dropped.push('wrong topic'));
  }
  await a.bus.publish('policies', 'alice');
  expect(dropped.toSorted()).toEqual(['a:alice', 'b:alice', 'c:alice']);
});

test('a subscription can end', async () => {
  const { join } = house();
  const [a, b] = [join(), join()];
  const seen: string[] = [];
  b.bus.subscribe('t', (key) => seen.push(key))();
  await a.bus.publish('t', 'x');
  expect(seen).toEqual([]);
});

test('news reach the other processes of the role they are for', async () => {
  const { join } = house();
  const processes = { a: join(), b: join(), c: join('background') };
  const heard: string[] = [];
  for (const [name, { exchange }] of Object.entries(processes)) {
    exchange.hear('events-appended', (next) => heard.push(`${name}:${String(next)}`));
    exchange.hear('outbox-filled', () => heard.push('other news'));
  }
  processes.c.exchange.tell('http', 'events-appended', 7);
  processes.a.exchange.tell('background', 'events-appended', 8);
  processes.a.exchange.tell('http', 'events-appended', 9);
  await vi.waitFor(() => expect(heard.toSorted()).toEqual(['a:7', 'b:7', 'b:9', 'c:8']));
});

test('a process that dies does not hold up a question', async () => {
  const { join } = house();
  const [a, b, c] = [join(), join(), join()];
  b.silence();
  c.exchange.answer('metrics', () => ['c']);
  const answers = a.exchange.askOthers('metrics');
  await new Promise((resolve) => setImmediate(resolve));
  b.leave();
  expect(await answers).toEqual([['c']]);
});

test('a process that is alive but silent holds it up only for a while', async () => {
  vi.useFakeTimers();
  try {
    const { join, silences } = house(5000);
    const [a, b] = [join(), join()];
    b.silence();
    const published = a.bus.publish('t', 'x');
    await vi.advanceTimersByTimeAsync(5001);
    await published;
    expect(silences).toEqual([1]);
  } finally {
    vi.useRealTimers();
  }
});

test('answers may be promises, fail, and come from processes that have ended', async () => {
  const { hub, join } = house();
  const [a, b, c] = [join(), join(), join()];
  b.exchange.answer('metrics', () => Promise.resolve(['b']));
  c.exchange.answer('metrics', () => Promise.reject(new Error('broken')));
  hub.addLegacy('metrics', () => [['past']]);
  expect(await a.exchange.askOthers('metrics')).toEqual([['past'], ['b']]);
});

test('a lone process is answered at once, and nobody waits for a lost primary', async () => {
  const { join } = house();
  const a = join();
  await a.bus.publish('t', 'x');
  const b = join();
  b.silence();
  const lost = a.exchange.askOthers('metrics');
  a.exchange.abandon();
  expect(await lost).toEqual([]);
});
