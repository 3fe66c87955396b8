import { decodeXid, encodeXid, type XidGenerator } from './xid.ts';

export const moveIdBytes = 16;
const two32 = 0x1_0000_0000;

/**
 * The id of a move or another event: its time in microseconds, then what makes it unique. Ids of one ref only grow,
 * also when the clock of the server that makes the next one is behind.
 */
export function newMoveId(nowMs: number, previous: Uint8Array | undefined, xids: XidGenerator): Buffer {
  const now = Math.floor(nowMs * 1000);
  const micros = previous === undefined ? now : Math.max(now, moveTime(previous) + 1);
  const id = Buffer.allocUnsafe(moveIdBytes);
  writeTime(id, micros);
  xids.nextBytes().copy(id, 8, 4, 12);
  return id;
}

/** The smallest id of that time. */
export function earliestIdAt(micros: number): Buffer {
  const id = Buffer.alloc(moveIdBytes);
  writeTime(id, micros);
  return id;
}

function writeTime(id: Buffer, micros: number): void {
  const clamped = Math.max(0, Math.floor(micros));
  id.writeUInt32BE(Math.floor(clamped / two32), 0);
  id.writeUInt32BE(clamped % two32, 4);
}

/** Microseconds since 1970. */
export function moveTime(id: Uint8Array): number {
  const view = Buffer.from(id.buffer, id.byteOffset, id.byteLength);
  return view.readUInt32BE(0) * two32 + view.readUInt32BE(4);
}

export function moveIdText(id: Uint8Array): string {
  return encodeXid(id);
}

/** Undefined when the text is no id. */
export function parseMoveId(text: string): Buffer | undefined {
  return decodeXid(text, moveIdBytes);
}
