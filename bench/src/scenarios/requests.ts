import type { Api } from '../driver/api.ts';

/** The requests of the loads, as bytes; what does not change from one to the next is built once. */
export class Requests {
  readonly #repository: string;
  readonly #readEnd: string;
  readonly #entry: string;
  readonly #jsonHead: string;

  constructor(api: Api, repository: string, physicalAddress: string) {
    this.#repository = `/api/v1/repositories/${repository}`;
    const head = ` HTTP/1.1\r\nhost: ${api.endpoint.host}\r\nauthorization: ${api.authorization}\r\n`;
    this.#readEnd = `${head}\r\n`;
    this.#jsonHead = `${head}content-type: application/json\r\ncontent-length: `;
    this.#entry = this.#json(
      `{"physical_address":"${physicalAddress}","checksum":"0123456789abcdef0123456789abcdef","size_bytes":1234}`,
    );
  }

  stat(ref: string, key: string): string {
    return `GET ${this.#repository}/refs/${ref}/objects/stat?path=${encodeURIComponent(key)}${this.#readEnd}`;
  }

  list(ref: string, after: string, amount: number): string {
    return `GET ${this.#repository}/refs/${ref}/objects/ls?amount=${amount}&after=${encodeURIComponent(after)}${this.#readEnd}`;
  }

  get(ref: string, key: string): string {
    return `GET ${this.#repository}/refs/${ref}/objects?path=${encodeURIComponent(key)}${this.#readEnd}`;
  }

  stage(branch: string, key: string): string {
    return `PUT ${this.#repository}/branches/${branch}/objects?path=${encodeURIComponent(key)}${this.#entry}`;
  }

  createBranch(name: string): string {
    return `POST ${this.#repository}/branches${this.#json(`{"name":"${name}","source":"main"}`)}`;
  }

  #json(body: string): string {
    return `${this.#jsonHead}${body.length}\r\n\r\n${body}`;
  }
}
