#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const program = new URL('../../../dist/svcctl.js', import.meta.url);
if (existsSync(program)) {
  await import(program.href);
} else {
  const clone = fileURLToPath(new URL('../../..', import.meta.url));
  process.stderr.write(`svcctl: this clone is not built yet; run "npm run build" in ${clone}\n`);
  process.exitCode = 1;
}
