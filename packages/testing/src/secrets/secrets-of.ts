type Note = (what: string, secret: string) => void;

const secretName = /secret|password|token(?!_)|private_key/i;
const secretField =
  /"(secret_access_key|secret_key|password|token|access_token|s3\.secret-access-key|s3\.session-token)"\s*:\s*"((?:[^"\\]|\\.)+)"/g;
const secretSetting = /^\s*(\S*(?:secret_access_key|secret_key|password|token))\s*[:=]\s*(.+)$/gim;
const secretQuery = /[?&](token|code|secret_key|X-Amz-Signature|X-Amz-Security-Token|Signature)=([^&#]+)/gi;

/** Secrets in the fields of JSON. */
export function noteJson(note: Note, what: string, text: string): void {
  for (const [, name = '', value = ''] of text.matchAll(secretField))
    note(`${name} in ${what}`, JSON.parse(`"${value}"`) as string);
}

/** Secrets in a configuration file, YAML or JSON, or in what a command prints for one. */
export function noteSettings(note: Note, what: string, text: string): void {
  noteJson(note, what, text);
  for (const [, name = '', value = ''] of text.matchAll(secretSetting))
    note(`${name} in ${what}`, value.trim().replace(/^(["'])(.*)\1$/, '$2'));
}

export function noteEnvironment(note: Note, env: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(env)) {
    if (secretName.test(name)) note(`the variable ${name}`, value);
    const password = URL.canParse(value) ? new URL(value).password : '';
    if (password !== '') note(`the password in ${name}`, decodeURIComponent(password));
  }
}

export function noteArguments(note: Note, args: readonly string[]): void {
  for (const [at, arg] of args.entries()) {
    if (arg.startsWith('--') && secretName.test(arg) && args[at + 1] !== undefined)
      note(`the argument ${arg}`, args[at + 1] as string);
  }
}

/** What a request proves its caller with. */
export function noteRequest(
  note: Note,
  url: string,
  headers: Readonly<Record<string, string | string[] | undefined>>,
): void {
  const [path = ''] = url.split('?');
  for (const [, name = '', value = ''] of url.matchAll(secretQuery))
    note(`${name} in a query of ${path}`, value);
  const authorization = String(headers['authorization'] ?? '');
  const [scheme = '', proof = ''] = authorization.split(' ', 2);
  if (scheme === 'Basic') {
    note(`Basic credentials for ${path}`, proof);
    const pair = Buffer.from(proof, 'base64').toString();
    if (pair.includes(':')) note(`the password of Basic for ${path}`, pair.slice(pair.indexOf(':') + 1));
  }
  if (scheme === 'Bearer') note(`a bearer token for ${path}`, proof);
  const signature = /Signature=([0-9a-f]{64})/.exec(authorization)?.[1];
  if (signature !== undefined) note(`a signature for ${path}`, signature);
  const sessionToken = headers['x-amz-security-token'];
  if (typeof sessionToken === 'string') note(`a session token for ${path}`, sessionToken);
  const cookie = /access_token=([^;]+)/.exec(String(headers['cookie'] ?? ''))?.[1];
  if (cookie !== undefined) note(`a cookie for ${path}`, cookie);
}
