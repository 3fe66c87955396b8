import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('the client runs in a browser: nothing of Node, nothing of the server', () => {
  const files = readdirSync(import.meta.dirname).filter((name) => /^(?!.*\.test).*\.ts$/.test(name));
  expect(files).toContain('client.ts');
  for (const name of files) {
    const text = readFileSync(join(import.meta.dirname, name), 'utf8');
    const imports = [...text.matchAll(/from '([^']+)'/g)].map((match) => match[1] ?? '');
    const foreign = imports.filter(
      (target) => !target.startsWith('./') && target !== 'openapi-typescript-helpers',
    );
    expect(foreign, name).toEqual([]);
    expect(text, name).not.toMatch(/\b(Buffer|process|require)\b[.(]/);
  }
});
