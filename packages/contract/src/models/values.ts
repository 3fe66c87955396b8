import { Type } from 'typebox';

export const text = Type.String();
export const flag = Type.Boolean();
export const offFlag = Type.Boolean({ default: false });
export const onFlag = Type.Boolean({ default: true });
export const integer = Type.Integer();
export const int64 = Type.Integer({ format: 'int64' });
export const dateTime = Type.String({ format: 'date-time' });
export const nullableText = Type.Unsafe<string | null>({ type: 'string', nullable: true });
export const binary = Type.Unsafe<Uint8Array>({ type: 'string', format: 'binary' });
export const freeObject = Type.Unsafe<Record<string, unknown>>({ type: 'object' });

/** The id of a commit, a range or a metarange: the SHA-256 of its content. */
export const hashId = Type.String({ pattern: '^[0-9a-f]{64}$' });

/** The id of a tree; the tree without objects has none. */
export const treeId = Type.String({ pattern: '^(?:[0-9a-f]{64})?$' });

/** A JSON object whose values are all strings. */
export const stringMap = Type.Unsafe<Record<string, string>>({
  type: 'object',
  additionalProperties: { type: 'string' },
});

export function textOf<const V extends readonly string[]>(values: V, options: { default?: V[number] } = {}) {
  return Type.Unsafe<V[number]>({ type: 'string', enum: [...values], ...options });
}

/**
 * Byte ranges. The same language as `^bytes=((\d*-\d*,? ?)+)$`, which existing clients know, written so that
 * matching takes linear time.
 */
export const byteRange = Type.String({
  pattern: '^bytes=\\d*-[\\d-]*(?:(?:, ?| )\\d*-[\\d-]*)*(?:, ?| )?$',
});
