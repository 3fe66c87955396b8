/** Where the log of events lives in the key-value store. */

export const eventsPartition: Buffer = Buffer.from('events');
export const tailKey: Buffer = Buffer.from('tail');
export const segmentsPrefix: Buffer = Buffer.from('segments/');
export const hintsPrefix: Buffer = Buffer.from('hints/');
export const subscriptionsPrefix: Buffer = Buffer.from('subscriptions/');

export function segmentKey(first: number): Buffer {
  return Buffer.concat([segmentsPrefix, sequenceBytes(first)]);
}

export function hintsKey(server: string): Buffer {
  return Buffer.from(`hints/${server}`);
}

export function subscriptionKey(id: string): Buffer {
  return Buffer.from(`subscriptions/${id}`);
}

export function deliveryKey(id: string): Buffer {
  return Buffer.from(`delivery/${id}`);
}

export const allDeadPrefix: Buffer = Buffer.from('dead/');

export function deadPrefix(id: string): Buffer {
  return Buffer.from(`dead/${id}/`);
}

export function deadKey(id: string, sequence: number): Buffer {
  return Buffer.concat([deadPrefix(id), sequenceBytes(sequence)]);
}

export const requestsPrefix: Buffer = Buffer.from('requests/');

/** What somebody asks to be done with a delivery that fails. */
export function requestKey(id: string, sequence: number): Buffer {
  return Buffer.concat([requestsPrefix, Buffer.from(`${id}/`), sequenceBytes(sequence)]);
}

/** The last eight bytes of a key that ends with a sequence number. */
export function sequenceOfKey(key: Buffer): number {
  return Number(key.readBigUInt64BE(key.length - 8));
}

function sequenceBytes(sequence: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(Math.max(0, sequence)));
  return bytes;
}
