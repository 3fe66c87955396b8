#!/usr/bin/env node
// The entry stays tiny: it switches on the compile cache before anything large is loaded.
import { enableCompileCache } from 'node:module';

enableCompileCache();
const { main } = await import('../commands/main.ts');
process.exitCode = await main({ program: import.meta.filename, argv: process.argv.slice(2) });
