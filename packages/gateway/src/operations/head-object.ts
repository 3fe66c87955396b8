import type { Call } from '../call.ts';
import { readObject } from './read-object.ts';

export async function headObject(call: Call): Promise<void> {
  const { status, headers } = await readObject(call);
  call.reply.empty(status, headers);
}
