import { describe, expect, it } from 'vitest';
import { findDecisionsByName } from './operation-rules.ts';

const found = (path: string, text: string): string[] =>
  findDecisionsByName([{ path, text }], ['createUser', 'setRules', 'commit']);

describe('decisions by the name of an operation', () => {
  it.each([
    ['packages/api/src/route.ts', "const policyOperations = new Set(['createUser']);"],
    ['packages/api/src/route.ts', 'if (policyOperations.has(operationId)) refuse();'],
    ['packages/api/src/route.ts', 'const prepare = prepareBody[this.#operation.operationId];'],
    ['packages/api/src/request/prepare-body.ts', 'export const prepareBody = {\n  createUser(body) {\n'],
    ['packages/api/src/request/prepare-body.ts', 'const prepare = {\n  setRules: (body) => body,\n};'],
    ['packages/api/src/route.ts', 'switch (operation.operationId) {}'],
    ['packages/api/src/handlers/commits.ts', 'if (call.operationId === other) skip();'],
    ['packages/gateway/src/serve.ts', "const ofBody = !('checksumIsOfBody' in operation);"],
    ['packages/gateway/src/serve.ts', "if ('run' in routed.operation) run();"],
    ['packages/gateway/src/serve.ts', 'if (operation === operations.createBucket) refuse();'],
    ['packages/gateway/src/serve.ts', "if (operation.id === 'put_object') count();"],
    ['packages/gateway/src/operations/put-object.ts', "if ('event' in call.operation) count();"],
  ])('are found in %s: %s', (path, text) => {
    expect(found(path, text)).toHaveLength(1);
  });

  it.each([
    ['packages/api/src/handlers/auth-users.ts', 'return {\n    async createUser(call) {\n'],
    ['packages/api/src/route.ts', "// `createUser` is refused here: 'createUser' in operation"],
    ['packages/api/src/route.ts', "const message = 'commit';\nobserver.started(operationId);"],
    ['packages/api/src/route.test.ts', "expect('createUser' in operation).toBe(true);"],
    ['packages/gateway/src/routing/route.ts', 'return operations.createBucket;'],
    ['packages/contract/src/operations/auth-users.ts', "operationId: 'createUser',"],
  ])('are not found in %s: %s', (path, text) => {
    expect(found(path, text)).toEqual([]);
  });

  it('names the line', () => {
    expect(found('packages/api/src/a.ts', "/*\n * why\n */\nconst x = ['setRules'];")[0]).toMatch(
      /^packages\/api\/src\/a\.ts:4: "'setRules'" /,
    );
  });
});
