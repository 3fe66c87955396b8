import { azureStore, gsStore } from './cloud-stores.ts';
import { describeClients, localStore } from './describe-clients.ts';
import { versitygwStore } from './versitygw-store.ts';

describeClients([
  { name: 'the local store', open: localStore, clients: 'all' },
  { name: 'an S3 server', open: versitygwStore, clients: 'some' },
  { name: 'Azurite', open: azureStore, clients: 'one' },
  { name: 'fake-gcs-server', open: gsStore, clients: 'one' },
]);
