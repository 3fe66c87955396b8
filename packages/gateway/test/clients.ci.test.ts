import { azureStore, gsStore } from './cloud-stores.ts';
import { clients, describeClients, localStore } from './describe-clients.ts';
import { versitygwStore } from './versitygw-store.ts';

/** What these show is shown by others, too; the long run has them. */
const left = new Set<string>(['boto3 over TLS', 's3cmd with SigV4']);

describeClients([
  { name: 'the local store', open: localStore, chosen: clients.filter((client) => !left.has(client)) },
  { name: 'an S3 server', open: versitygwStore, chosen: ['boto3', 'rclone'] },
  { name: 'Azurite', open: azureStore, chosen: ['boto3'] },
  { name: 'fake-gcs-server', open: gsStore, chosen: ['boto3'] },
]);
