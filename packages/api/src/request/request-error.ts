/** A refusal at the edge: the request never reached its operation. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(status: number, message: string, headers?: Readonly<Record<string, string>>) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

export type ParameterPlace = 'query' | 'path' | 'header';

export function parameterError(place: ParameterPlace, name: string, reason: string): RequestError {
  return new RequestError(400, `parameter "${name}" in ${place} has an error: ${reason}`);
}

export function bodyError(reason: string): RequestError {
  return new RequestError(400, `request body has an error: ${reason}`);
}
