import { azureStore, gsStore } from './cloud-stores.ts';
import { clients, describeClients, localStore } from './describe-clients.ts';
import { versitygwStore } from './versitygw-store.ts';

/** Encryption is the same on every store. */
const all = clients.filter((client) => !client.includes('TLS'));

describeClients([
  { name: 'the local store', open: localStore, chosen: ['boto3 over TLS', 's3cmd with SigV4'] },
  { name: 'an S3 server', open: versitygwStore, chosen: all },
  { name: 'Azurite', open: azureStore, chosen: all },
  { name: 'fake-gcs-server', open: gsStore, chosen: all },
]);
