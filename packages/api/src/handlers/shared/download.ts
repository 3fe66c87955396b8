import type { ObjectLocation, Objects } from '@svc/engine';
import { Answer } from '../../answer/answer.ts';
import { browserSafety, etagOf, objectHeaders } from '../../answer/object-headers.ts';
import { byteRangeOf } from '../../request/byte-range.ts';

interface DownloadOptions {
  readonly range?: string;
  readonly 'if-none-match'?: string;
  readonly presign?: boolean | undefined;
}

const unsatisfiable = 'Requested Range Not Satisfiable';

export async function downloadAnswer(
  objects: Objects,
  location: ObjectLocation,
  options: DownloadOptions,
): Promise<Answer> {
  const entry = await objects.stat({ ...location, presign: options.presign });
  if (options.presign === true && entry.presigned !== undefined) {
    return new Answer(302, { location: entry.presigned.url });
  }
  if (options['if-none-match'] === etagOf(entry)) return new Answer(304);
  const headers = { ...objectHeaders(entry), ...browserSafety(entry) };
  if (options.range === undefined) {
    const body = await objects.openEntry(location.repository, entry);
    return new Answer(200, { ...headers, 'content-length': body.size }, body.bytes ?? body);
  }
  const range = byteRangeOf(options.range, entry.size);
  if (typeof range === 'string') {
    const size = range === 'outside' ? { 'content-range': `bytes */${entry.size}` } : {};
    return Answer.json(416, { message: unsatisfiable }, size);
  }
  const body = await objects.openEntry(location.repository, entry, range);
  return new Answer(
    206,
    {
      ...headers,
      'content-length': range.end - range.start + 1,
      'content-range': `bytes ${range.start}-${range.end}/${entry.size}`,
    },
    body.bytes ?? body,
  );
}

/** As the download, without opening the data. */
export async function headAnswer(
  objects: Objects,
  location: ObjectLocation,
  rangeHeader: string | undefined,
): Promise<Answer> {
  const entry = await objects.stat(location);
  const headers = objectHeaders(entry);
  if (rangeHeader === undefined) return new Answer(200, { ...headers, 'content-length': entry.size });
  const range = byteRangeOf(rangeHeader, entry.size);
  if (typeof range === 'string') return new Answer(416);
  return new Answer(206, {
    ...headers,
    'content-length': range.end - range.start + 1,
    'content-range': `bytes ${range.start}-${range.end}/${entry.size}`,
  });
}
