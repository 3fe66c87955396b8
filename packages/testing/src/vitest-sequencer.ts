import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Long files, the longest first: begun last, each would keep one core busy after everything else is done. */
const longest = [
  'packages/ui/test/flows.ci.test.ts',
  'packages/gateway/test/clients.ci.test.ts',
  'packages/cli/test/acceptance.ci.test.ts',
  'packages/gateway/test/s3-suite/versitygw-suite.ci.test.ts',
  'packages/cli/test/local.ci.test.ts',
  'packages/server/test/server.process.test.ts',
  'packages/server/test/authorization-matrix.process.test.ts',
  'packages/engine/test/crash.ci.test.ts',
];

/** These begin with the S3 server, which a first run compiles meanwhile. */
const last = [
  'packages/block/src/adapters/s3/s3-adapter.test.ts',
  'packages/testing/src/test-server.test.ts',
  'packages/api/test/presigned.process.test.ts',
  'packages/block/test/memory.ci.test.ts',
  'packages/cli/test/presigned.process.test.ts',
  'packages/gateway/test/s3-store.ci.test.ts',
];

/** An order that leaves no core idle; within each of its three parts the usual one. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

function rank({ moduleId }: TestSpecification): number {
  const index = longest.findIndex((path) => moduleId.endsWith(path));
  if (index !== -1) return index;
  return last.some((path) => moduleId.endsWith(path)) ? longest.length + 1 : longest.length;
}
