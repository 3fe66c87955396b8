import { uploadObject, uploadPresigned, type ObjectStats, type UploadSettings } from '@svc/client';
import type { NodeTransport } from '../http/transport.ts';
import type { PresignSupport } from '../presign.ts';
import { fileSource } from './upload-source.ts';

export interface UploaderOptions {
  readonly transport: NodeTransport;
  readonly repository: string;
  readonly branch: string;
  readonly presign: PresignSupport;
}

export interface UploadRequest extends Omit<UploadSettings, 'repository' | 'branch' | 'ifAbsent'> {
  readonly file: string;
  readonly size: number;
}

/** Sends files to one branch, through the service or straight to its store. */
export class Uploader {
  readonly #options: UploaderOptions;

  constructor(options: UploaderOptions) {
    this.#options = options;
  }

  async upload({ file, size, ...settings }: UploadRequest): Promise<ObjectStats> {
    const { transport, repository, branch, presign } = this.#options;
    const target = { ...settings, repository, branch };
    const source = fileSource(file, size);
    if (presign.supported) {
      return uploadPresigned(transport, { ...target, source, multipart: presign.multipart });
    }
    return uploadObject(transport, { ...target, piece: await source.read(0, size) });
  }
}
