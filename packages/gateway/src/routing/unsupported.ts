import { S3Error } from '../errors/s3-error.ts';
import type { S3Request } from '../request/s3-request.ts';
import type { Shape } from './route.ts';

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

interface Unsupported {
  /** Query names that ask for something we do not do; ignoring one would run the plain operation instead. */
  readonly names: ReadonlySet<string>;
  /** Refused whatever the setting: the plain handler would overwrite or delete the object. */
  readonly destructive?: boolean;
  /** `s3cmd` gives up at 405 but goes on after 501 when it asks for these. */
  readonly softened?: ReadonlySet<string>;
}

const unsupported: Readonly<Record<Shape, ReadonlyMap<string, Unsupported>>> = {
  service: new Map([['GET', { names: words('events') }]]),
  bucket: new Map([
    [
      'GET',
      {
        names: words(
          'abac accelerate acl analytics cors encryption events intelligent-tiering inventory lifecycle logging ' +
            'metadataConfiguration metadataTable metrics notification object-lock ownershipControls policy ' +
            'policyStatus publicAccessBlock replication requestPayment session tagging versions website',
        ),
        softened: words('acl lifecycle cors'),
      },
    ],
    ['HEAD', { names: words('acl') }],
    [
      'PUT',
      {
        names: words(
          'abac accelerate acl analytics cors encryption intelligent-tiering inventory lifecycle logging ' +
            'metadataInventoryTable metadataJournalTable metrics notification object-lock ownershipControls policy ' +
            'publicAccessBlock replication requestPayment tagging versioning website',
        ),
      },
    ],
  ]),
  object: new Map<string, Unsupported>([
    ['GET', { names: words('acl lambdaArn legal-hold retention torrent'), softened: words('acl') }],
    [
      'PUT',
      {
        names: words('acl encryption legal-hold renameObject retention restore torrent'),
        destructive: true,
      },
    ],
    ['POST', { names: words('restore select') }],
    ['DELETE', { names: words('acl torrent'), destructive: true }],
  ]),
};

export function checkSupported(request: S3Request, shape: Shape, verifyUnsupported: boolean): void {
  const here = unsupported[shape].get(request.method);
  if (here === undefined || !(verifyUnsupported || here.destructive === true)) return;
  const name = request.query.firstOf(here.names);
  if (name === undefined) return;
  const status = here.softened?.has(name) === true ? 501 : 405;
  throw new S3Error('ERRLakeFSNotSupported', undefined, { status });
}
