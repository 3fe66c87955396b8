import { decode, expectStatus } from './answers.ts';
import { ClientError } from './errors.ts';
import type { components } from './generated/api.ts';
import type { ObjectStats, UploadTarget } from './location.ts';
import type { Transport } from './transport.ts';

/** Bytes to send. */
export interface Piece<Payload> {
  /** Undefined when there are none. */
  readonly body: string | Payload | undefined;
  /** Their MD5 in hex once they were sent, where the sender can tell: it must be the one that was received. */
  readonly md5?: (() => string) | undefined;
}

export interface UploadSettings extends UploadTarget {
  /** `application/octet-stream` when absent. */
  readonly contentType?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Fails with 412 when the object exists. */
  readonly ifAbsent?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told how many more bytes were sent; negative when some are sent again. */
  readonly onBytes?: ((count: number) => void) | undefined;
}

export interface UploadRequest<Payload> extends UploadSettings {
  readonly piece: Piece<Payload>;
  /** False for a body that cannot be read again. */
  readonly repeat?: boolean | undefined;
  readonly force?: boolean | undefined;
}

export type ResolutionObject = components['schemas']['ResolutionObject'];

/** Sends an object through the service. */
export async function uploadObject<Payload, Stream>(
  transport: Transport<Payload, Stream>,
  request: UploadRequest<Payload>,
): Promise<ObjectStats> {
  const place = '/repositories/{repository}/branches/{branch}/objects';
  return (await sendPiece(transport, place, request)) as ObjectStats;
}

/** Sends the data of a resolution: an object once a merge into the branch takes it. */
export async function uploadScratch<Payload, Stream>(
  transport: Transport<Payload, Stream>,
  request: UploadRequest<Payload>,
): Promise<ResolutionObject> {
  const place = '/repositories/{repository}/branches/{branch}/objects/scratch';
  return (await sendPiece(transport, place, request)) as ResolutionObject;
}

async function sendPiece<Payload, Stream>(
  transport: Transport<Payload, Stream>,
  place: string,
  request: UploadRequest<Payload>,
): Promise<{ readonly checksum: string }> {
  const { repository, branch, path, piece, repeat, signal, onBytes } = request;
  const contentType = request.contentType ?? 'application/octet-stream';
  if (/^multipart\/form-data/i.test(contentType)) {
    throw new ClientError(
      `upload of ${path}: the service takes ${contentType} for a form, not for an object`,
    );
  }
  const answer = await transport.call({
    method: 'POST',
    path: place,
    params: {
      path: { repository, branch },
      query: { path, force: request.force === true ? true : undefined },
    },
    headers: {
      'content-type': contentType,
      ...metadataHeaders(request.metadata ?? {}),
      ...(request.ifAbsent === true && { 'if-none-match': '*' }),
    },
    body: piece.body,
    repeat,
    signal,
    onBytes,
  });
  await expectStatus(answer, 201);
  const stats = (await decode(answer)) as { readonly checksum: string };
  checkMd5(path, piece, stats.checksum);
  return stats;
}

/** `::lakefs::x` travels as an internal header, everything else as user metadata. */
function metadataHeaders(metadata: Readonly<Record<string, string>>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [key, value] of Object.entries(metadata)) {
    const internal = key.startsWith('::lakefs::');
    headers[internal ? `x-lakefs-internal-${key.slice(10)}` : `x-lakefs-meta-${key}`] = value;
  }
  return headers;
}

export function isPlainMd5(checksum: string): boolean {
  return /^[0-9a-f]{32}$/.test(checksum);
}

export function checkMd5(path: string, piece: Piece<unknown>, received: string): void {
  if (piece.md5 === undefined || !isPlainMd5(received)) return;
  const sent = piece.md5();
  if (sent === received) return;
  throw new ClientError(
    `upload of ${path}: the bytes changed on the way (MD5 sent ${sent}, received ${received})`,
  );
}
