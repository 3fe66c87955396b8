import type { Call } from '../call.ts';
import { uploadTargetOf } from './multipart-target.ts';

export async function abortMultipartUpload(call: Call): Promise<void> {
  await call.services.engine.uploads.abort(uploadTargetOf(call));
  call.reply.empty(204);
}
