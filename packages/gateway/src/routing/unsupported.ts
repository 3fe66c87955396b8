import { S3Error } from '../errors/s3-error.ts';
import type { S3Request } from '../request/s3-request.ts';

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Query names that ask for something we do not do; ignoring one would run the plain operation instead. */
const names: Readonly<Record<string, ReadonlySet<string>>> = {
  'GET service': words('events'),
  'GET bucket': words(
    'abac accelerate acl analytics cors encryption events intelligent-tiering inventory lifecycle logging ' +
      'metadataConfiguration metadataTable metrics notification object-lock ownershipControls policy ' +
      'policyStatus publicAccessBlock replication requestPayment session tagging versions website',
  ),
  'HEAD bucket': words('acl'),
  'PUT bucket': words(
    'abac accelerate acl analytics cors encryption intelligent-tiering inventory lifecycle logging ' +
      'metadataInventoryTable metadataJournalTable metrics notification object-lock ownershipControls policy ' +
      'publicAccessBlock replication requestPayment tagging versioning website',
  ),
  'GET object': words('acl attributes lambdaArn legal-hold retention torrent'),
  'PUT object': words('acl encryption legal-hold renameObject retention restore tagging torrent'),
  'POST object': words('restore select'),
  'DELETE object': words('acl tagging torrent'),
};

/** Refused whatever the setting: the plain handler would overwrite or delete the object. */
const destructive: ReadonlySet<string> = new Set(['PUT object', 'DELETE object']);

/** `s3cmd` gives up at 405 but goes on after 501 when it asks for these. */
const softened: Readonly<Record<string, ReadonlySet<string>>> = {
  'GET bucket': words('acl lifecycle cors'),
  'GET object': words('acl'),
};

export function checkSupported(
  request: S3Request,
  shape: 'service' | 'bucket' | 'object',
  verifyUnsupported: boolean,
): void {
  const target = `${request.method} ${shape}`;
  const unsupported = names[target];
  if (unsupported === undefined || !(verifyUnsupported || destructive.has(target))) return;
  for (const name of request.query.names())
    if (unsupported.has(name))
      throw new S3Error('ERRLakeFSNotSupported', undefined, {
        status: softened[target]?.has(name) === true ? 501 : 405,
      });
}
