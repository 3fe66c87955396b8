import { createMemStore } from '@svc/kv';
import { expect, test } from 'vitest';
import { composeGateway } from './compose.ts';

test('a PUT reads the record of its repository once', async () => {
  const store = createMemStore();
  let reads = 0;
  const counting = new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...given: unknown[]) => {
        const isRepository =
          given[1] instanceof Uint8Array && Buffer.from(given[1]).toString() === 'repos/lake';
        if (name !== 'close' && isRepository) reads++;
        return Reflect.apply(member, target, given) as unknown;
      };
    },
  });
  const gateway = await composeGateway({
    kv: counting,
    // Without the cache, every look at the repository is a read.
    engine: { settings: { repositoryCache: { size: 1, ttlMs: 0, jitterMs: 0 } } },
  });
  try {
    await gateway.createRepository('lake');
    for (const expectsContinue of [false, true]) {
      reads = 0;
      const answer = await gateway.client().send('PUT', '/lake/main/x', {
        body: 'content',
        expect: expectsContinue,
      });
      expect([answer.status, reads]).toEqual([200, 1]);
    }
  } finally {
    await gateway.close();
  }
});
