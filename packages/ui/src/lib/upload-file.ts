import { client } from './api.ts';
import type { StorageConfig } from './api.ts';

export interface UploadTask {
  readonly repository: string;
  readonly branch: string;
  readonly path: string;
  readonly file: File;
  readonly storage: StorageConfig | undefined;
  /** Fails with 412 when there is an object already. */
  readonly ifAbsent?: boolean | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (sent: number) => void;
}

/** Uploads one file: straight to the store where it allows that, else through the service. */
export async function uploadFile(task: UploadTask): Promise<void> {
  const { repository, branch, path, file, storage, ifAbsent, signal, onProgress } = task;
  let sent = 0;
  const upload = {
    repository,
    branch,
    path,
    body: file,
    ifAbsent,
    contentType: file.type === '' ? undefined : file.type,
    signal,
    onBytes: (count: number) => {
      sent += count;
      onProgress(sent);
    },
  };
  await (storage?.pre_sign_support_ui === true
    ? client.objects.uploadPresigned(upload)
    : client.objects.upload(upload));
  onProgress(file.size);
}
