import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lakefsJava, lakefsPython, orSkipReason, runCommand } from '@svc/testing';
import { startSvc } from './start-svc.ts';
import type { RunningSvc } from './start-svc.ts';

// Clients nobody here wrote, as their users get them from the registries.
let svc: RunningSvc;
let python: string | undefined;
let classpath: string | undefined;

beforeAll(async () => {
  [svc, python, classpath] = await Promise.all([
    startSvc(),
    orSkipReason('the Python clients', lakefsPython),
    orSkipReason('the Java client', lakefsJava),
  ]);
  writeFileSync(join(svc.importFolder, 'one.txt'), '1');
  writeFileSync(join(svc.importFolder, 'two.txt'), '2');
});

afterAll(() => svc.stop());

test('the Python SDK, the high-level package and the file system do their tour', async (context) => {
  if (python === undefined) return context.skip('the Python clients cannot be had here');
  const output = await runCommand(python, [
    join(import.meta.dirname, 'foreign/python-tour.py'),
    svc.endpoint,
    svc.accessKeyId,
    svc.secretAccessKey,
    'local://python-tour',
    `local://${svc.importFolder}/`,
  ]);
  expect(output.trim().split('\n').at(-1)).toBe('done');
  expect(output.match(/^ok /gm)).toHaveLength(15);
});

test('the Java client does its tour', async (context) => {
  if (classpath === undefined) return context.skip('the Java client cannot be had here');
  const output = await runCommand('java', [
    '-cp',
    classpath,
    join(import.meta.dirname, 'foreign/JavaTour.java'),
    svc.endpoint,
    svc.accessKeyId,
    svc.secretAccessKey,
    'local://java-tour',
    `local://${svc.importFolder}/`,
  ]);
  expect(output.trim().split('\n').at(-1)).toBe('done');
  expect(output.match(/^ok /gm)).toHaveLength(14);
});
