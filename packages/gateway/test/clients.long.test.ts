import { azureStore, gsStore } from './cloud-stores.ts';
import { describeClients } from './describe-clients.ts';

describeClients([
  { name: 'Azurite', open: azureStore, clients: 'few' },
  { name: 'fake-gcs-server', open: gsStore, clients: 'few' },
]);
