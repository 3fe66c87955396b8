import { invalid } from '../context/refusals.ts';
import type { EngineSubject } from '../errors.ts';

/** Texts that are one record of the key-value store, read as a whole: all of them together. */
export const maxRecordText = 256 * 1024;

/** Throws `invalid` when the texts are longer than one record may be. `what` is their name in the message. */
export function checkTexts(what: string, subject: EngineSubject, texts: Iterable<string>): void {
  let size = 0;
  for (const text of texts) size += Buffer.byteLength(text);
  if (size > maxRecordText)
    throw invalid(`${what} of ${size} bytes are above the maximum of ${maxRecordText}`, subject);
}
