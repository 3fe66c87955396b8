import { timestampToMillis, type Timestamp } from '@svc/encoding';
import { standardClass, storageClassOf, tagsOf, type ObjectEntry } from '@svc/engine';
import { addMetadataHeaders, defaultContentType, safeHeaderValue } from '../metadata/object-metadata.ts';

export function quotedEtag(etag: string): string {
  return etag.startsWith('"') ? etag : `"${etag}"`;
}

/** `YYYY-MM-DDTHH:MM:SS.mmmZ` */
export function xmlTime(time: Timestamp): string {
  return dateOf(timestampToMillis(time)).toISOString();
}

/** The largest time a date can hold. */
const lastMillis = 8_640_000_000_000_000;

/** An entry may hold any number as its time. One outside the range of dates is shown as the nearest date. */
function dateOf(millis: number): Date {
  return new Date(Math.min(Math.max(millis, -lastMillis), lastMillis));
}

const secondsOfDay = 86_400;
let lastDay = Number.NaN;
let lastDate = '';

/** `Sun, 06 Nov 1994 08:49:37 GMT`. The text of the last day is kept: objects read together often share it. */
export function httpTime({ seconds }: Timestamp): string {
  const day = Math.floor(seconds / secondsOfDay);
  if (day !== lastDay) {
    lastDate = dateOf(day * secondsOfDay * 1000)
      .toUTCString()
      .slice(0, -'00:00:00 GMT'.length);
    lastDay = day;
  }
  const second = seconds - day * secondsOfDay;
  return `${lastDate}${twoDigits(second / 3600)}:${twoDigits((second / 60) % 60)}:${twoDigits(second % 60)} GMT`;
}

function twoDigits(value: number): string {
  const whole = Math.trunc(value);
  return whole < 10 ? `0${whole}` : String(whole);
}

/** The headers HEAD and GET answer for an object. */
export function entryHeaders(entry: ObjectEntry): Record<string, string> {
  const headers: Record<string, string> = {
    ETag: safeHeaderValue(quotedEtag(entry.etag)),
    'Last-Modified': httpTime(entry.mtime),
    'Content-Type': entry.contentType === '' ? defaultContentType : safeHeaderValue(entry.contentType),
    'Accept-Ranges': 'bytes',
  };
  addMetadataHeaders(entry.metadata, headers);
  const tags = tagsOf(entry.metadata).length;
  if (tags > 0) headers['x-amz-tagging-count'] = String(tags);
  const storageClass = storageClassOf(entry.metadata);
  if (storageClass !== standardClass) headers['x-amz-storage-class'] = storageClass;
  return headers;
}
