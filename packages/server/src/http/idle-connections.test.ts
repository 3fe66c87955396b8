import { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { IdleConnections } from './idle-connections.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('a connection is told once that it was idle for long enough, and only then', () => {
  const connections = new IdleConnections(10);
  const [idle, used, closed] = [new Socket(), new Socket(), new Socket()];
  const told: string[] = [];
  for (const [name, socket] of Object.entries({ idle, used, closed })) {
    connections.watch(socket);
    socket.on('timeout', () => told.push(name));
    expect(socket.setTimeout(1000)).toBe(socket);
  }
  closed.emit('close');
  for (let time = 0; time < 4; time++) {
    vi.advanceTimersByTime(300);
    // As for a request and its answer.
    used.setTimeout(0);
    if (time < 3) used.setTimeout(1000);
  }
  expect(told).toEqual(['idle']);
  vi.advanceTimersByTime(5000);
  expect(told).toEqual(['idle']);
  used.setTimeout(1000);
  vi.advanceTimersByTime(900);
  expect(told).toEqual(['idle']);
  vi.advanceTimersByTime(110);
  expect(told).toEqual(['idle', 'used']);
  idle.setTimeout(1000);
  connections.stop();
  vi.advanceTimersByTime(5000);
  expect(told).toEqual(['idle', 'used']);
});
