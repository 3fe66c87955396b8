import type { LuaValue } from '../lua-value.ts';
import { awsPackage } from './aws.ts';
import { azurePackage } from './azure.ts';
import { cryptoPackages } from './crypto.ts';
import { databricksPackage } from './databricks.ts';
import { encodingPackages } from './encoding.ts';
import { formatsPackage } from './formats.ts';
import { gcloudPackage } from './gcloud.ts';
import { metastorePackage } from './metastore.ts';
import { pathPackages } from './paths.ts';
import { netHttpPackage, svcPackage, type Ask } from './svc.ts';
import { textPackages } from './texts.ts';
import { timePackage } from './time.ts';

/** Everything scripts can `require`, made when they do. */
export function packagesFor(options: {
  readonly ask: Ask;
  readonly netHttpEnabled: boolean;
  /** Called before a script sleeps. */
  readonly onSleep: () => void;
}): Readonly<Record<string, () => LuaValue>> {
  const { ask, netHttpEnabled, onSleep } = options;
  return {
    ...cryptoPackages,
    ...encodingPackages,
    ...pathPackages,
    ...textPackages,
    time: () => timePackage(onSleep),
    svc: () => svcPackage(ask),
    'svc/metastore': () => metastorePackage(ask),
    aws: () => awsPackage(ask),
    azure: () => azurePackage(ask),
    gcloud: () => gcloudPackage(ask),
    databricks: () => databricksPackage(ask),
    formats: () => formatsPackage(ask),
    ...(netHttpEnabled ? { 'net/http': () => netHttpPackage(ask) } : {}),
  };
}
