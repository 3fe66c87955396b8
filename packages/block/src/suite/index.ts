import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addressCases } from './address-cases.ts';
import { BlockSuite, type BlockFixture } from './block-suite.ts';
import { multipartCases } from './multipart-cases.ts';
import { presignCases } from './presign-cases.ts';
import { putCases } from './put-cases.ts';
import { readCases } from './read-cases.ts';
import { walkCases } from './walk-cases.ts';

export type { BlockFixture } from './block-suite.ts';

/** Holds an adapter to the contract of `BlockAdapter`. `open` is called once. */
export function describeBlockAdapter(name: string, open: () => Promise<BlockFixture>): void {
  describe(`block adapter ${name}`, () => {
    const suite = new BlockSuite();
    beforeAll(() => suite.open(open));
    afterAll(() => suite.close());
    putCases(suite);
    readCases(suite);
    addressCases(suite);
    multipartCases(suite);
    walkCases(suite);
    presignCases(suite);

    it('tells what it is', () => {
      const { adapter, fixture } = suite;
      if (adapter.type !== 'azure') expect(adapter.info.namespaceValidityRegex).toBe(`^${adapter.type}://`);
      expect(adapter.info.namespaceExample).toMatch(new RegExp(adapter.info.namespaceValidityRegex));
      expect(fixture.namespace).toMatch(new RegExp(adapter.info.namespaceValidityRegex));
    });
  });
}
