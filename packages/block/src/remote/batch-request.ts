import { bytesRequest, type RequestBody } from './request-body.ts';

const boundary = 'batch_of_svc_requests';

export const batchType = `multipart/mixed; boundary=${boundary}`;

export interface BatchedDelete {
  /** Encoded. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Requests to delete as one body, numbered from 0 in the order given. */
export function batchBody(requests: readonly BatchedDelete[], id: (index: number) => string): RequestBody {
  const parts = requests.map(({ path, headers }, index) => {
    const lines = [
      `--${boundary}`,
      'Content-Type: application/http',
      'Content-Transfer-Encoding: binary',
      `Content-ID: ${id(index)}`,
      '',
      `DELETE ${path} HTTP/1.1`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      'Content-Length: 0',
      '',
      // The end of the last line belongs to the boundary.
      '',
      '',
    ];
    return lines.join('\r\n');
  });
  return bytesRequest(Buffer.from(`${parts.join('')}--${boundary}--\r\n`));
}

/** The status of each request by its number, as far as the store tells. */
export function batchStatuses(contentType: string | undefined, text: string): Map<number, number> {
  const statuses = new Map<number, number>();
  const mark = /boundary="?([^";]+)"?/.exec(contentType ?? '')?.[1];
  if (mark === undefined) return statuses;
  for (const part of text.split(`--${mark}`)) {
    // Google answers to <0> as <response-0>.
    const index = /^content-id:[^\r\n]*?(\d+)>?\s*$/im.exec(part)?.[1];
    const status = /^HTTP\/1\.\d (\d{3})/m.exec(part)?.[1];
    if (index !== undefined && status !== undefined) statuses.set(Number(index), Number(status));
  }
  return statuses;
}

/** Whether what was to be deleted is gone, or was never there. */
export function isGone(status: number | undefined): boolean {
  return status !== undefined && (status < 300 || status === 404);
}
