import { eventMessage, segmentMessage, WireReader, WireWriter, type EventData } from '@svc/encoding';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { repositoryOf } from './event.ts';

/** What a store takes as one value, everywhere. */
const maxSegmentBytes = 256 * 1024;
export const maxSegmentEvents = 2000;
/** A damaged segment must not unpack into any amount of memory. */
const maxUnpackedBytes = 64 * 1024 * 1024;

/** Some events in a row. */
export interface Segment {
  readonly first: number;
  readonly events: readonly EventData[];
  /** The number after that of the last event. */
  readonly next: number;
  readonly repositories: ReadonlySet<string>;
  readonly offset: number;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly appendedAt: number;
}

export interface EncodedSegment {
  readonly value: Buffer;
  /** How many of the events fit. */
  readonly count: number;
}

/** As many of the events as one segment holds. */
export function encodeSegment(
  events: readonly EventData[],
  place: { readonly first: number; readonly offset: number; readonly appendedAt: number },
): EncodedSegment {
  for (let count = Math.min(events.length, maxSegmentEvents); ; count = Math.ceil(count / 2)) {
    const taken = events.slice(0, count);
    const writer = new WireWriter();
    for (const event of taken) writer.message(1, (inner) => eventMessage.write(inner, event));
    const value = segmentMessage.encode({
      ...place,
      repositories: [...new Set(taken.map((event) => repositoryOf(event) ?? ''))],
      events: zstdCompressSync(writer.finish()),
    });
    if (value.length <= maxSegmentBytes || count === 1) return { value, count };
  }
}

export function decodeSegment(value: Buffer): Segment {
  const { first, repositories, events: packed, offset, appendedAt } = segmentMessage.decode(value);
  const reader = new WireReader(zstdDecompressSync(packed, { maxOutputLength: maxUnpackedBytes }));
  const events: EventData[] = [];
  while (!reader.done) {
    reader.varint();
    events.push(eventMessage.decode(reader.bytes()));
  }
  return {
    first,
    events,
    next: first + events.length,
    repositories: new Set(repositories),
    offset,
    bytes: value.length,
    appendedAt,
  };
}
