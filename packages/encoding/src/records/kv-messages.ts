import type { MessageOf } from './fields.ts';
import { bytes, message, text, timestamp } from './fields.ts';

export const secondaryIndexMessage = message({ primaryKey: bytes(1) });
export type SecondaryIndex = MessageOf<typeof secondaryIndexMessage>;

export const ownershipMessage = message({ owner: text(1), expires: timestamp(2), comment: text(3) });
export type MostlyCorrectOwnership = MessageOf<typeof ownershipMessage>;
