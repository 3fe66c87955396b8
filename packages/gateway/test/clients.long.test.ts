import { azureStore, gsStore } from './cloud-stores.ts';
import { describeClients, localStore } from './describe-clients.ts';
import { versitygwStore } from './versitygw-store.ts';

describeClients([
  { name: 'the local store', open: localStore, chosen: ['boto3 over TLS', 's3cmd with SigV4'] },
  {
    name: 'an S3 server',
    open: versitygwStore,
    chosen: ['pyarrow', 'delta-rs', 'the AWS CLI', 'the MinIO client'],
  },
  { name: 'Azurite', open: azureStore, chosen: ['rclone', 'the AWS CLI'] },
  { name: 'fake-gcs-server', open: gsStore, chosen: ['rclone', 'the AWS CLI'] },
]);
