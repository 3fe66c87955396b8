import { fetchVersitygw, testServerOrSkip } from '@svc/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { composeGateway } from '../compose.ts';
import { largeCases, notApplicable } from './not-applicable.ts';
import { caseNames, runCases } from './run-cases.ts';

/** Runs every case of the suite, or one of so many. */
export async function suiteTests(oneOf: number): Promise<void> {
  const server = await testServerOrSkip('versitygw');
  const program = server === undefined ? undefined : await fetchVersitygw();

  describe.skipIf(program === undefined)('the cases of a public S3 suite', async () => {
    const gateway = await composeGateway();
    afterAll(() => gateway.close());

    it('pass, but for those listed with a reason', { timeout: 600_000 }, async () => {
      const all = await caseNames(program ?? '');
      const chosen = all.filter((name) => !largeCases.has(name) && !(name in notApplicable));
      expect(chosen.length).toBeGreaterThanOrEqual(300);
      const some = chosen.filter((_, index) => index % oneOf === 0);
      const results = await runCases(program ?? '', gateway, some);
      const told = results.filter(({ passed }) => !passed).map(({ name, failure }) => `${name}: ${failure}`);
      expect(told.join('\n')).toBe('');
      expect(gateway.errors).toEqual([]);
      expect(results).toHaveLength(some.length);
    });

    it('that are listed exist', async () => {
      const all = new Set(await caseNames(program ?? ''));
      for (const name of [...Object.keys(notApplicable), ...largeCases])
        expect(all.has(name), name).toBe(true);
    });
  });
}
