import { expect, test } from 'vitest';
import type { MetastoreOperation } from '../worker-protocol.ts';
import { runOperation } from './run-operation.ts';

const hive = { type: 'hive', address: 'hive.test:9083' };
const glue = { type: 'glue', key: 'k', secret: 's', region: 'eu-central-1' };
const table = { from_schema: 's', from_table: 't' };

function refused(operation: MetastoreOperation, options: object): Promise<object> {
  const call = { kind: 'metastore', operation, options: JSON.stringify(options) } as const;
  const ask = (): Promise<never> => Promise.reject(new Error('asked'));
  return runOperation(call, { ask, maxReceivedBytes: 1024 });
}

test.each<[MetastoreOperation, object, RegExp]>([
  ['copy', {}, /^from_client is missing$/],
  ['copy', { from_client: 'hive' }, /^from_client must be a table$/],
  ['copy', { from_client: { type: 'x' } }, /must be hive or glue, not "x"/],
  ['copy', { from_client: { type: 'hive' } }, /^from_client\.address is missing$/],
  ['copy', { from_client: { type: 'hive', address: 'h:x' } }, /expected host:port/],
  ['copy', { from_client: { ...hive, port: 1 } }, /^there is no option from_client\.port: .*address/],
  ['copy', { from_client: { type: 'glue', key: 'k' } }, /^from_client\.secret is missing$/],
  ['copy', { from_client: { ...glue, endpoint: 'x' } }, /^endpoint "x" is not a URL$/],
  ['copy', { from_client: hive, to_branch: 'a/b' }, /^to_branch "a\/b" is not the name of a branch$/],
  ['copy', { from_client: hive, to_branch: 'b', ...table, partition: '1' }, /^partition must be a list/],
  ['copy', { from_client: hive, to_branch: 'b', ...table, dry_run: 'no' }, /^dry_run must be true or false$/],
  ['import_all', { repo: 'A', branch: 'b' }, /^repo "A" is not the name of a repository$/],
  ['copy_all', { branch: 'b', from_client: hive }, /^to_client is missing$/],
  ['copy_all', { branch: 'b', from_client: hive, to_client: hive }, /would be changed in place$/],
  [
    'copy_all',
    { branch: 'b', from_client: glue, to_client: { ...glue, catalog_id: '1' } },
    /catalog_id each/,
  ],
  ['diff', { from_client: hive, ...table, form: 1 }, /^there is no option form: the options are from_client/],
  ['create_symlink', { from_client: hive }, /^to_client must be of type glue$/],
])('%s refuses %j', async (operation, options, message) => {
  await expect(refused(operation, options)).rejects.toThrow(message);
});

test('two catalogs of one region are two metastores', async () => {
  const clients = { from_client: { ...glue, catalog_id: '1' }, to_client: { ...glue, catalog_id: '2' } };
  await expect(refused('copy_all', { branch: 'b', ...clients })).rejects.toThrow(/did not answer.*asked/);
});
