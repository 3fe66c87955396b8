import type { ObjectBody, PresignedUrl } from '@svc/block';
import type { InRepository } from './model.ts';

export type MetadataObjectType = 'range' | 'meta_range';

export interface InMetadataObject extends InRepository {
  readonly type: MetadataObjectType;
  readonly id: string;
}

export interface Metadata {
  /** `<prefix>/<id>`, relative to the namespace; existence is not checked. */
  location(options: InMetadataObject): Promise<string>;
  open(options: InMetadataObject): Promise<ObjectBody>;
  presign(options: InMetadataObject): Promise<PresignedUrl>;
}
