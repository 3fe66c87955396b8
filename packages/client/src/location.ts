import type { components } from './generated/api.ts';
import type { Transport } from './transport.ts';

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

export function branchUrl(transport: Transport, target: Omit<UploadTarget, 'path'>): string {
  const { repository, branch } = target;
  return `${transport.baseUrl}/repositories/${encodeURIComponent(repository)}/branches/${encodeURIComponent(branch)}`;
}

export function refUrl(transport: Transport, { repository, ref }: ObjectLocation): string {
  return `${transport.baseUrl}/repositories/${encodeURIComponent(repository)}/refs/${encodeURIComponent(ref)}`;
}
