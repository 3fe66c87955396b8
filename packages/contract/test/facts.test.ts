import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openApiDocument } from '../src/index.ts';
import type { MediaTypes, OpenApiOperation, OpenApiResponse } from '../src/index.ts';
import { factFields, fieldsOf, notation } from './fact-notation.ts';
import { intendedDifferences } from './intended-differences.ts';

interface Facts {
  operations: {
    method: string;
    path: string;
    tag: string;
    operationId: string;
    flags: string[];
    params: { name: string; in: string; required: boolean; type: string }[];
    body?: { required: boolean; content: Record<string, string> };
    responses: Record<string, { content: Record<string, string>; headers: string[] }>;
  }[];
  schemas: Record<string, string>;
}

const facts = JSON.parse(readFileSync(join(import.meta.dirname, 'fixtures/api-facts.json'), 'utf8')) as Facts;
const document = openApiDocument('0');

function emittedOperations(): Map<string, { method: string; path: string; operation: OpenApiOperation }> {
  const found = new Map<string, { method: string; path: string; operation: OpenApiOperation }>();
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      found.set(operation.operationId, { method: method.toUpperCase(), path, operation });
    }
  }
  return found;
}

function contentOf(content: MediaTypes | undefined): Record<string, string> {
  return Object.fromEntries(
    Object.entries(content ?? {}).map(([mediaType, { schema }]) => [mediaType, notation(schema)]),
  );
}

function compareRecords(
  where: string,
  wanted: Record<string, string>,
  given: Record<string, string>,
  differences: string[],
): void {
  for (const [name, type] of Object.entries(wanted)) {
    if (!(name in given)) differences.push(`${where} ${name} missing`);
    else if (given[name] !== type) differences.push(`${where} ${name} is ${given[name]}, not ${type}`);
  }
  for (const name of Object.keys(given)) if (!(name in wanted)) differences.push(`${where} ${name} added`);
}

function compareResponses(
  id: string,
  wanted: Facts['operations'][number]['responses'],
  given: Record<string, OpenApiResponse>,
  differences: string[],
): void {
  for (const [status, { content, headers }] of Object.entries(wanted)) {
    const response = given[status];
    if (response === undefined) {
      differences.push(`${id}: ${status} missing`);
      continue;
    }
    compareRecords(`${id}: ${status}`, content, contentOf(response.content), differences);
    const ours = Object.keys(response.headers ?? {});
    if (ours.join() !== headers.join()) differences.push(`${id}: ${status} headers ${ours.join()}`);
  }
  for (const status of Object.keys(given)) {
    if (!(status in wanted)) differences.push(`${id}: ${status} added`);
  }
}

function differencesOfOperations(): string[] {
  const differences: string[] = [];
  const emitted = emittedOperations();
  for (const fact of facts.operations) {
    const id = fact.operationId;
    const ours = emitted.get(id);
    if (ours === undefined) {
      differences.push(`${id} missing`);
      continue;
    }
    emitted.delete(id);
    const { operation } = ours;
    if (ours.method !== fact.method || ours.path !== fact.path)
      differences.push(`${id}: ${ours.method} ${ours.path}`);
    if (operation.tags.join() !== fact.tag) differences.push(`${id}: tag ${operation.tags.join()}`);
    if ((operation.security !== undefined) !== fact.flags.includes('no authentication'))
      differences.push(`${id}: authentication`);
    if ((operation.deprecated === true) !== fact.flags.includes('deprecated'))
      differences.push(`${id}: deprecated`);

    const parameters = new Map(
      (operation.parameters ?? [])
        .filter((parameter) => parameter.in !== 'path')
        .map((parameter) => [`${parameter.in} ${parameter.name}`, parameter]),
    );
    for (const wanted of fact.params) {
      const name = `${wanted.in} ${wanted.name}`;
      const given = parameters.get(name);
      parameters.delete(name);
      if (given === undefined) differences.push(`${id}: ${name} missing`);
      else if (given.required !== wanted.required) differences.push(`${id}: ${name} required-ness`);
      else if (notation(given.schema) !== wanted.type)
        differences.push(`${id}: ${name}: other type ${notation(given.schema)}`);
    }
    for (const name of parameters.keys()) differences.push(`${id}: ${name} added`);

    if ((operation.requestBody?.required ?? false) !== (fact.body?.required ?? false))
      differences.push(`${id}: body required-ness`);
    compareRecords(
      `${id}: body`,
      fact.body?.content ?? {},
      contentOf(operation.requestBody?.content),
      differences,
    );
    compareResponses(id, fact.responses, operation.responses, differences);
  }
  for (const id of emitted.keys()) differences.push(`${id} added`);
  return differences;
}

/** Two schemas are written as a sum in the fact table. */
const sums: Record<string, string> = {
  UploadPartCopyFrom: '{ physical_address: string; copy_source: CopyPartSource }',
  PullRequest:
    '{ status: "open"|"closed"|"merged"; title: string; description: string; id: string; creation_date: string(date-time); author: string; source_branch: string; destination_branch: string; merged_commit_id?: string; closed_date?: string(date-time) }',
};

function differencesOfSchemas(): string[] {
  const differences: string[] = [];
  const { schemas } = document.components;
  for (const [name, fact] of Object.entries(facts.schemas)) {
    const schema = schemas[name];
    const wanted = sums[name] ?? fact;
    if (schema === undefined) {
      differences.push(`schema ${name} missing`);
    } else if (!wanted.startsWith('{')) {
      if (notation(schema) !== wanted) differences.push(`${name}: is ${notation(schema)}, not ${wanted}`);
    } else {
      const given = fieldsOf(schema);
      const fields = factFields(wanted);
      for (const field of fields) if (!given.includes(field)) differences.push(`${name}: ${field} missing`);
      for (const field of given) if (!fields.includes(field)) differences.push(`${name}: ${field} added`);
    }
  }
  for (const name of Object.keys(schemas)) {
    if (!(name in facts.schemas)) differences.push(`schema ${name} added`);
  }
  return differences;
}

test('the emitted document equals the facts existing clients were generated from', () => {
  const differences = [...differencesOfOperations(), ...differencesOfSchemas()];
  expect(differences.filter((difference) => !intendedDifferences.includes(difference))).toEqual([]);
  expect(intendedDifferences.filter((difference) => !differences.includes(difference))).toEqual([]);
});

test('the facts are all there', () => {
  expect(facts.operations).toHaveLength(134);
  expect(Object.keys(facts.schemas)).toHaveLength(119);
});
