import type { components } from './generated/api.ts';

export type ObjectStats = components['schemas']['ObjectStats'];

export interface ObjectLocation {
  readonly repository: string;
  readonly ref: string;
  readonly path: string;
}

export interface UploadTarget {
  readonly repository: string;
  readonly branch: string;
  readonly path: string;
}
