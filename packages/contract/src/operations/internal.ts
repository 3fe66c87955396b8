import { body, empty, errors, json } from '../answers.ts';
import { AuthCapabilities, CredentialsWithSecret } from '../models/auth.ts';
import { InstallationUsageReport, StatsEventsList, StorageConfig, VersionConfig } from '../models/config.ts';
import { CommPrefsInput, Setup, SetupState } from '../models/setup.ts';
import { text } from '../models/values.ts';
import { operation } from '../operation.ts';
import { anything, authenticated, one, open } from '../requirement-template.ts';

export const internalOperations = {
  setupCommPrefs: operation({
    operationId: 'setupCommPrefs',
    method: 'POST',
    idempotent: false,
    path: '/setup_comm_prefs',
    tag: 'internal',
    summary: 'Store how the operator wants to hear about updates',
    internal: true,
    requires: open,
    body: body(CommPrefsInput),
    responses: {
      200: empty(),
      ...errors(400, 409, 412, 429, 'default'),
    },
  }),
  getSetupState: operation({
    operationId: 'getSetupState',
    method: 'GET',
    path: '/setup_lakefs',
    aliases: [{ path: '/setup', operationId: 'getInstallationState' }],
    tag: 'internal',
    summary: 'Tell whether the installation is set up and how to log in',
    internal: true,
    requires: open,
    responses: {
      200: json(SetupState),
      ...errors(429, 'default'),
    },
  }),
  setup: operation({
    operationId: 'setup',
    method: 'POST',
    idempotent: false,
    path: '/setup_lakefs',
    aliases: [{ path: '/setup', operationId: 'setupInstallation' }],
    tag: 'internal',
    summary: 'Set up the installation and create its first administrator',
    internal: true,
    requires: open,
    body: body(Setup),
    responses: {
      200: json(CredentialsWithSecret),
      ...errors(400, 409, 429, 'default'),
    },
  }),
  getAuthCapabilities: operation({
    operationId: 'getAuthCapabilities',
    method: 'GET',
    path: '/auth/capabilities',
    tag: 'internal',
    summary: 'Tell which mail-based account features work',
    internal: true,
    requires: open,
    responses: {
      200: json(AuthCapabilities),
      ...errors(429, 'default'),
    },
  }),
  getLakeFSVersion: operation({
    operationId: 'getLakeFSVersion',
    method: 'GET',
    path: '/config/version',
    tag: 'internal',
    summary: 'Get the version of the service',
    deprecated: true,
    internal: true,
    requires: authenticated,
    responses: {
      200: json(VersionConfig),
      ...errors(401),
    },
  }),
  getStorageConfig: operation({
    operationId: 'getStorageConfig',
    method: 'GET',
    path: '/config/storage',
    tag: 'internal',
    summary: 'Describe the object store of the installation',
    deprecated: true,
    internal: true,
    requires: one('fs:ReadConfig', anything),
    responses: {
      200: json(StorageConfig),
      ...errors(401),
    },
  }),
  postStatsEvents: operation({
    operationId: 'postStatsEvents',
    method: 'POST',
    idempotent: false,
    path: '/statistics',
    tag: 'internal',
    summary: 'Add to the usage counters',
    internal: true,
    requires: authenticated,
    body: body(StatsEventsList),
    responses: {
      204: empty(),
      ...errors(400, 401, 429, 'default'),
    },
  }),
  getUsageReportSummary: operation({
    operationId: 'getUsageReportSummary',
    method: 'GET',
    path: '/usage-report/summary',
    tag: 'internal',
    summary: 'Report how many requests were served, by month',
    internal: true,
    requires: authenticated,
    responses: {
      200: { content: { 'application/json': InstallationUsageReport, 'application/text': text } },
      ...errors(401, 404, 429, 'default'),
    },
  }),
} as const;
