/** Keys of the built-in collector in a repository's partition, unless said. */
export const stateKey: Buffer = Buffer.from('gc/state');
export const externalKey: Buffer = Buffer.from('gc/external');
export const quarantineKey: Buffer = Buffer.from('gc/quarantine');
export const gcSettingsKey: Buffer = Buffer.from('settings/gc');
export const foreignKnownKey: Buffer = Buffer.from('gc/foreign-known');
export const pinsPrefix: Buffer = Buffer.from('gc/pins/');
export const keepsPrefix: Buffer = Buffer.from('gc/keeps/');
export const runsPrefix: Buffer = Buffer.from('gc/runs/');

export function pinKey(id: string): Buffer {
  return Buffer.from(`gc/pins/${id}`);
}

export function keepKey(commitId: string): Buffer {
  return Buffer.from(`gc/keeps/${commitId}`);
}

export function runKey(id: string): Buffer {
  return Buffer.from(`gc/runs/${id}`);
}

/** What all repositories share. */
export const gcPartition: Buffer = Buffer.from('gc');
export const queuePrefix: Buffer = Buffer.from('queue/');
export const foreignPrefix: Buffer = Buffer.from('foreign/');

export function queueKey(partition: Buffer): Buffer {
  return Buffer.concat([queuePrefix, partition]);
}

export function foreignOf(partition: Buffer): Buffer {
  return Buffer.concat([foreignPrefix, partition, Buffer.from('/')]);
}
