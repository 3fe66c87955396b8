import { expect, test } from 'vitest';
import { LocalCacheBus } from './cache-bus.ts';

test('listeners of the topic hear the key before publish resolves, until they leave', async () => {
  const bus = new LocalCacheBus();
  const heard: string[] = [];
  const leave = bus.subscribe('users', (key) => heard.push(`first ${key}`));
  bus.subscribe('users', (key) => heard.push(`second ${key}`));
  bus.subscribe('groups', (key) => heard.push(`groups ${key}`));
  await bus.publish('users', 'a');
  leave();
  await bus.publish('users', 'b');
  await bus.publish('nobody', 'c');
  expect(heard).toEqual(['first a', 'second a', 'second b']);
});
