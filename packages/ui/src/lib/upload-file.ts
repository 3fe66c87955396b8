import { ApiError } from '@svc/client';
import { client, clientName } from './api.ts';
import type { StorageConfig } from './api.ts';

export interface UploadTask {
  readonly repository: string;
  readonly branch: string;
  readonly path: string;
  readonly file: File;
  readonly storage: StorageConfig | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (sent: number) => void;
}

/** Uploads one file: straight to the store where it allows that, else through the service. */
export async function uploadFile(task: UploadTask): Promise<void> {
  if (task.storage?.pre_sign_support_ui === true) {
    await client.objects.uploadPresigned({
      repository: task.repository,
      branch: task.branch,
      path: task.path,
      body: task.file,
      contentType: task.file.type || undefined,
      signal: task.signal,
    });
    task.onProgress(task.file.size);
    return;
  }
  await sendForm(task);
}

/** `fetch` cannot tell how much of a body was sent; the older interface can. */
function sendForm({ repository, branch, path, file, signal, onProgress }: UploadTask): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const url =
      `/api/v1/repositories/${encodeURIComponent(repository)}/branches/${encodeURIComponent(branch)}` +
      `/objects?path=${encodeURIComponent(path)}`;
    request.open('POST', url);
    request.setRequestHeader('X-Lakefs-Client', clientName);
    request.upload.addEventListener('progress', (event) => onProgress(Math.min(event.loaded, file.size)));
    request.addEventListener('load', () => {
      if (request.status < 300) {
        onProgress(file.size);
        resolve();
        return;
      }
      let message = `${request.status} ${request.statusText}`;
      try {
        message = (JSON.parse(request.responseText) as { message?: string }).message ?? message;
      } catch {
        // Not JSON: the status line says what there is to say.
      }
      reject(
        new ApiError(request.status, message, {
          requestId: request.getResponseHeader('x-request-id') ?? undefined,
        }),
      );
    });
    request.addEventListener('error', () => reject(new TypeError('network error while sending')));
    request.addEventListener('abort', () => reject(new DOMException('cancelled', 'AbortError')));
    signal.addEventListener('abort', () => request.abort());
    const form = new FormData();
    form.append('content', file, file.name);
    request.send(form);
  });
}
