import type { ObjectEntry } from '@svc/engine';
import { EngineError } from '@svc/engine';
import type { Call } from '../call.ts';
import { readObject } from './read-object.ts';

const lockedDown = "default-src 'none'; base-uri 'none'; form-action 'none'";

export async function getObject(call: Call): Promise<void> {
  const { services, repository, reply, record } = call;
  const { status, headers, entry, range, length } = await readObject(call);
  if (status === 304) {
    reply.empty(status, headers);
    return;
  }
  const location = await redirectLocation(call, entry);
  if (location !== undefined) {
    record.bytesOut = entry.size;
    reply.empty(307, { Location: location });
    return;
  }
  // Objects are served from the service's own origin: a stored page must not run there.
  headers['X-Content-Type-Options'] = 'nosniff';
  headers['X-Frame-Options'] = 'SAMEORIGIN';
  // The sandbox would stop the browser's own viewer of PDF files.
  headers['Content-Security-Policy'] =
    headers['Content-Type'] === 'application/pdf' ? lockedDown : `${lockedDown}; sandbox`;
  record.bytesOut = length;
  // Opened before the head is sent, so that missing data is still an error the client sees.
  const body = await services.engine.objects.openEntry(repository.id, entry, range);
  if (body.bytes !== undefined) reply.bytes(status, headers, body.bytes);
  else await reply.send(status, headers, body);
}

/** Clients that ask for it are redirected to the store, if the store can presign. */
async function redirectLocation(call: Call, entry: ObjectEntry): Promise<string | undefined> {
  if (!(call.request.headers.get('user-agent') ?? '').includes('s3RedirectionSupport')) return undefined;
  try {
    const { presigned } = await call.services.engine.objects.stat({
      repository: call.repository.id,
      ref: call.ref,
      path: entry.path,
      presign: true,
    });
    return presigned?.url;
  } catch (error) {
    if (error instanceof EngineError && error.kind === 'not_supported') return undefined;
    throw error;
  }
}
