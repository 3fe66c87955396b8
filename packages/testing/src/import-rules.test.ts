import { describe, expect, it } from 'vitest';
import { findBrokenImports } from './import-rules.ts';

// Spelled apart so that the check, which reads text, does not take the sample for an import of this file.
const dynamicImport = 'import';
const broken = (path: string, text: string): string[] => findBrokenImports([{ path, text }]);

describe('import rules', () => {
  it('lets the engine import what lies below it', () => {
    expect(broken('packages/engine/src/a.ts', "import { x } from '@svc/kv';")).toEqual([]);
  });

  it.each([
    ['packages/engine/src/a.ts', "import { x } from '@svc/api';"],
    ['packages/engine/src/a.ts', "import type { X } from '@svc/auth';"],
    ['packages/api/src/a.ts', "import { x } from '@svc/gateway';"],
    ['packages/gateway/src/a.ts', "import { x } from '@svc/api';"],
    ['packages/cli/src/a.ts', `const x = await ${dynamicImport}('@svc/engine');`],
    ['packages/cli/src/a.ts', "export { x } from '@svc/kv';"],
    ['packages/ui/src/a.tsx', "import { x } from '@svc/block';"],
    ['packages/kv/src/drivers/local.ts', "import { x } from './postgres.ts';"],
    ['packages/kv/src/drivers/local/open.ts', "import { x } from '../postgres/pool.ts';"],
    ['packages/engine/src/a.ts', "import { x } from '../../kv/src/store.ts';"],
    ['packages/kv/src/a.ts', "import {\n  x,\n  y,\n} from '@svc/testing';"],
    ['packages/unknown/src/a.ts', ''],
  ])('refuses %s: %s', (path, text) => {
    expect(broken(path, text)).toHaveLength(1);
  });

  it('lets tests use the testing package', () => {
    expect(broken('packages/kv/src/a.test.ts', "import { x } from '@svc/testing';")).toEqual([]);
  });
});
