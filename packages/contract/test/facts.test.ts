import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openApiDocument } from '../src/index.ts';
import type { MediaTypes, OpenApiOperation, OpenApiResponse } from '../src/index.ts';
import { factFields, fieldsOf, notation } from './fact-notation.ts';

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

/** Where we differ on purpose. Everything else must equal what existing clients were generated from. */
const intended = [
  // Pages show at a glance what was changed last, how far branches went apart, and what may be done here.
  'listRepositories: query summary added',
  'getRepository: query summary added',
  'Repository: summary?: RepositorySummary added',
  'getCurrentUser: query rights added',
  'CurrentUser: rights?: string[] added',
  'RepositoryList: may_create?: boolean added',
  ...['RepositorySummary', 'Divergence', 'LastCommitList'].map((name) => `schema ${name} added`),
  ...['listLastCommits', 'getDivergence', 'downloadArchive'].map((id) => `${id} added`),
  // Runs of hooks are filtered by the server, and it says whether hooks run.
  'listRepositoryRuns: query event added',
  'listRepositoryRuns: query status added',
  'CapabilitiesConfig: actions_enabled?: boolean added',
  // What has not ended yet can be watched, and what is over run again.
  'rerunHooks added',
  'ActionRun: status: "failed"|"completed" missing',
  'ActionRun: status: "failed"|"completed"|"running" added',
  'ActionRun: rerun_of?: string added',
  // The same language, written so that matching is linear.
  'getObject: header Range: other type string {pattern="^bytes=\\\\d*-[\\\\d-]*(?:(?:, ?| )\\\\d*-[\\\\d-]*)*(?:, ?| )?$"}',
  'headObject: header Range: other type string {pattern="^bytes=\\\\d*-[\\\\d-]*(?:(?:, ?| )\\\\d*-[\\\\d-]*)*(?:, ?| )?$"}',
  'CopyPartSource: range?: string {pattern="^bytes=((\\\\d*-\\\\d*,? ?)+)$"} missing',
  'CopyPartSource: range?: string {pattern="^bytes=\\\\d*-[\\\\d-]*(?:(?:, ?| )\\\\d*-[\\\\d-]*)*(?:, ?| )?$"} added',
  // What this server can do beyond the compatible API.
  ...[
    'reflog',
    'time_refs',
    'aliases',
    'events',
    'audit',
    'merge_resolutions',
    'ref_search',
    'archive',
    'repo_summary',
    'gc_runs',
  ].map((name) => `CapabilitiesConfig: ${name}?: boolean added`),
  // Branches and tags are found by a part of their names.
  ...['listBranches', 'listTags'].map((id) => `${id}: query search added`),
  // Merges are steered: pins, resolutions, conflicts path by path.
  ...['revertBranch', 'cherryPick'].map((id) => `${id}: 412 added`),
  ...['mergeIntoBranch', 'mergePullRequest'].flatMap((id) => [
    `${id}: 409 application/json is MergeConflicts, not MergeResult`,
    `${id}: 412 application/json is MovedError, not Error`,
  ]),
  'mergePullRequest: body application/json added',
  ...[
    'listMergeConflicts',
    'previewMerge',
    'uploadScratchObject',
    'listCherryPickConflicts',
    'listRevertConflicts',
    'listCommitResolutions',
  ].map((id) => `${id} added`),
  'MergeResult: resolved?: TakeCounts added',
  ...['RevertCreation', 'CherryPickCreation', 'Merge'].flatMap((schema) => [
    `${schema}: expected_destination?: string {pattern="^[0-9a-f]{64}$"} added`,
    `${schema}: resolutions?: Resolution[] added`,
  ]),
  ...['RevertCreation', 'CherryPickCreation'].map((schema) => `${schema}: strategy?: string added`),
  'Merge: expected_source?: string {pattern="^[0-9a-f]{64}$"} added',
  ...[
    'MergeConflicts',
    'PullMerge',
    'Resolution',
    'ResolutionObject',
    'TakeCounts',
    'Conflict',
    'ConflictEntry',
    'ConflictList',
    'ConflictCounts',
    'ObjectTotals',
    'MergePreview',
    'Moved',
    'MovedRef',
    'MovedError',
  ].map((name) => `schema ${name} added`),
  // Ids become names of files.
  'commit: query source_metarange: other type string {pattern="^[0-9a-f]{64}$"}',
  'CommitRecordCreation: metarange_id: string missing',
  'CommitRecordCreation: metarange_id: string {pattern="^(?:[0-9a-f]{64})?$"} added',
  'CommitRecordCreation: parents: string[] missing',
  'CommitRecordCreation: parents: string {pattern="^[0-9a-f]{64}$"}[] added',
  ...['commits', 'tags', 'branches'].flatMap((kind) => [
    `RefsRestore: ${kind}_meta_range_id: string missing`,
    `RefsRestore: ${kind}_meta_range_id: string {pattern="^(?:[0-9a-f]{64})?$"} added`,
  ]),
  // What the servers of existing clients really send.
  'updatePullRequest: 204 added',
  'updateObjectUserMetadata: 204 added',
  'createBranch: 201 text/plain; charset=utf-8 added',
  'HookRun: status: "failed"|"completed" missing',
  'HookRun: status: "failed"|"completed"|"skipped"|"running" added',
  // The second way to update a policy.
  'createPolicy: query update added',
  'createPolicy: 200 added',
  // Whom a statement speaks of, if not of whom its policy is attached to.
  'Statement: principal?: "anonymous"[] {minItems=1} added',
  // Without credentials there is no current user.
  'getCurrentUser: 401 added',
  // Operations that only svc has.
  'startGCRun added',
  'listGCRuns added',
  'getGCRun added',
  'listGCRunObjects added',
  'cancelGCRun added',
  'getGCQuarantine added',
  'rescueGarbage added',
  'getGCSettings added',
  'setGCSettings added',
  'schema GcRunCreation added',
  'schema GcRunId added',
  'schema GcCount added',
  'schema GcHeldReport added',
  'schema GcClassReport added',
  'schema GcReport added',
  'schema GcRootReport added',
  'schema GcRun added',
  'schema GcRunList added',
  'schema GcObject added',
  'schema GcObjectList added',
  'schema GcQuarantine added',
  'schema GcRescue added',
  'schema GcSettings added',
  'listReflog added',
  'getRefMove added',
  'expireReflog added',
  'resolveRef added',
  'listDeletedRefs added',
  'undeleteRef added',
  'rollbackBranch added',
  'getReflogSettings added',
  'setReflogSettings added',
  'listEvents added',
  'listRepositoryEvents added',
  'createSubscription added',
  'listSubscriptions added',
  'getSubscription added',
  'updateSubscription added',
  'deleteSubscription added',
  'testSubscription added',
  'rotateSubscriptionSecret added',
  'listDeliveries added',
  'redeliver added',
  'discardDelivery added',
  'schema Event added',
  'schema EventList added',
  'schema EventsGone added',
  'schema Subscription added',
  'schema CreatedSubscription added',
  'schema SubscriptionCreation added',
  'schema SubscriptionUpdate added',
  'schema SubscriptionList added',
  'schema SubscriptionSecret added',
  'schema SubscriptionTest added',
  'schema Delivery added',
  'schema DeliveryList added',
  'schema RedeliverRequest added',
  'schema RedeliverResult added',
  'deleteRepository: query purge added',
  'deleteRepository: query delete_data added',
  'listDeletedRepositories added',
  'restoreRepository added',
  'purgeRepository added',
  ...[
    'listAliases',
    'createAlias',
    'getAlias',
    'setAlias',
    'deleteAlias',
    'rollbackAlias',
    'aliasLog',
    'setCredentialsView',
    'deleteCredentialsView',
    'schema Alias',
    'schema AliasCreation',
    'schema AliasList',
    'schema AliasMove',
    'schema AliasMoveList',
    'schema AliasRollback',
    'schema BoundPlace',
    'schema BucketBinding',
    'schema CredentialsCreation',
    'schema CredentialsViewCreation',
  ].map((name) => `${name} added`),
  // Why somebody is refused, and who did what.
  ...[
    'listAuditEntries',
    'listOwnSessions',
    'endOwnSessions',
    'endOwnSession',
    'listUserSessions',
    'endUserSessions',
    'endUserSession',
    'beginCliLogin',
    'getCliLogin',
    'approveCliLogin',
    'finishCliLogin',
    'schema CliLogin',
    'schema CliLoginApproval',
    'schema CliLoginProof',
    'schema CliLoginResult',
    'schema CliLoginStart',
    'schema Session',
    'schema SessionList',
    'schema AuditEntry',
    'schema AuditEntryList',
    'simulatePermission',
    'schema SimulationRequest',
    'schema Simulation',
    'schema SimulatedPolicy',
    'schema DecidingStatement',
  ].map((name) => `${name} added`),
  'createCredentials: body application/json added',
  'Credentials: view?: Alias added',
  'CredentialsWithSecret: view?: Alias added',
  'schema DeletedRepository added',
  'schema DeletedRepositoryList added',
  'schema RefMove added',
  'schema RefMoveList added',
  'schema DeletedRef added',
  'schema DeletedRefList added',
  'schema ResolvedRef added',
  'schema UndeleteRequest added',
  'schema UndeletedRef added',
  'schema RollbackRequest added',
  'schema RollbackResult added',
  'schema ReflogSettings added',
  'getInstallationState added',
  'setupInstallation added',
  'logBranchCommits added',
  'forgotPassword added',
  'updatePassword added',
  'schema ForgotPasswordRequest added',
  'schema UpdatePasswordByToken added',
];

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
  expect(differences.filter((difference) => !intended.includes(difference))).toEqual([]);
  expect(intended.filter((difference) => !differences.includes(difference))).toEqual([]);
});

test('the facts are all there', () => {
  expect(facts.operations).toHaveLength(134);
  expect(Object.keys(facts.schemas)).toHaveLength(119);
});
