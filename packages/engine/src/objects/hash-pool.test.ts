import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { HashPool } from './hash-pool.ts';

test('many bodies at once share the slots and get the right digests', async () => {
  const pool = new HashPool(2);
  const bodies = Array.from({ length: 12 }, () => randomBytes(1_500_000));
  const digests = await Promise.all(
    bodies.map(async (body) => {
      const hash = pool.open(['md5', 'sha256']);
      for (let at = 0; at < body.length; at += 300_000) await hash.update(body.subarray(at, at + 300_000));
      return (await hash.digests()).map((digest) => digest.toString('hex'));
    }),
  );
  const expected = bodies.map((body) =>
    ['md5', 'sha256'].map((name) => createHash(name).update(body).digest('hex')),
  );
  expect(digests).toEqual(expected);
  await pool.close();
});

test('a closed pool fails what was under way instead of leaving it waiting', async () => {
  const pool = new HashPool(1);
  const hash = pool.open(['md5']);
  await hash.update(randomBytes(1000));
  const digests = hash.digests().catch((error: unknown) => error);
  await pool.close();
  expect(await digests).toEqual(new Error('hash pool is closed'));
  await expect(hash.update(Buffer.from('more'))).rejects.toThrow('lost');
  expect(() => pool.open(['md5'])).toThrow('closed');
});
