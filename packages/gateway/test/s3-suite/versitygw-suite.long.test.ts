import { fetchVersitygw, testServerOrSkip } from '@svc/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { composeGateway } from '../compose.ts';
import { largeCases, notApplicable } from './not-applicable.ts';
import { caseNames, runCases } from './run-cases.ts';

const server = await testServerOrSkip('versitygw');
const program = server === undefined ? undefined : await fetchVersitygw();

describe.skipIf(program === undefined)('the large and the listed cases of a public S3 suite', async () => {
  const gateway = await composeGateway();
  afterAll(() => gateway.close());

  it('pass, but for those listed with a reason', { timeout: 1_800_000 }, async () => {
    const all = await caseNames(program ?? '');
    const chosen = all.filter((name) => largeCases.has(name) || name in notApplicable);
    const results = await runCases(program ?? '', gateway, chosen);
    const unexpected = results.filter(({ name, passed }) => passed === name in notApplicable);
    const told = unexpected.map(
      ({ name, failure }) => `${name}: ${failure || 'passes: take it off the list'}`,
    );
    expect(told.join('\n')).toBe('');
    expect(gateway.errors).toEqual([]);
    expect(results.filter(({ passed }) => passed).length).toBeGreaterThanOrEqual(1);
  });
});
