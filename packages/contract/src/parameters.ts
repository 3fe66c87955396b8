import { Type } from 'typebox';
import { byteRange } from './models/values.ts';

/** A value whose empty form means the same as its absence. */
const maybeEmpty = Type.Optional(Type.String({ allowEmptyValue: true }));

export const prefix = maybeEmpty;
export const after = maybeEmpty;
export const delimiter = maybeEmpty;
export const search = maybeEmpty;
export const reference = maybeEmpty;
export const since = Type.Optional(Type.String({ format: 'date-time', allowEmptyValue: true }));

export const amount = Type.Optional(Type.Integer({ default: 100, minimum: -1, maximum: 1000 }));

/** The page parameters of every list. */
export const page = { prefix, after, amount };

export const objectPath = Type.String();
export const force = Type.Optional(Type.Boolean({ default: false }));
export const presign = Type.Optional(Type.Boolean());

export const range = Type.Optional(byteRange);
export const condition = Type.Optional(Type.String());
/** A condition whose empty form says that nothing must be there yet. */
export const conditionOrEmpty = maybeEmpty;
