/** Also the size from which an object goes in parts. */
export const minPartSize = 5 * 1024 * 1024;
const maxParts = 10_000;

export interface PartPlan {
  readonly partSize: number;
  readonly parts: number;
}

/** 5 MiB parts; larger ones when there would be more than a store takes. */
export function planParts(size: number): PartPlan {
  const partSize = size / minPartSize >= maxParts ? Math.floor(size / maxParts) + 1 : minPartSize;
  return { partSize, parts: Math.ceil(size / partSize) };
}
