import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import type { Certificate } from '../certify.ts';

export interface ReceivedMail {
  readonly from: string;
  readonly to: string;
  /** Headers and body as they came. */
  readonly source: string;
  readonly encrypted: boolean;
  readonly greeting: string;
  readonly user: string | undefined;
}

export interface MailServer {
  readonly port: number;
  readonly mails: ReceivedMail[];
  /** The next mails are refused. */
  refuses: boolean;
  stop(): void;
}

export interface MailServerOptions {
  readonly certificate?: Certificate;
  /** TLS from the first byte. */
  readonly secure?: boolean;
  readonly login?: { readonly username: string; readonly password: string };
}

/** A real SMTP server in the process of the test; with a certificate it offers STARTTLS. */
export async function startMailServer(options: MailServerOptions = {}): Promise<MailServer> {
  const { SMTPServer } = await import('smtp-server');
  const { certificate, login } = options;
  const mails: ReceivedMail[] = [];
  const state = { refuses: false };
  const server = new SMTPServer({
    secure: options.secure ?? false,
    ...(certificate === undefined
      ? { disabledCommands: login === undefined ? ['STARTTLS', 'AUTH'] : ['STARTTLS'] }
      : { cert: readFileSync(certificate.cert), key: readFileSync(certificate.key) }),
    authOptional: login === undefined,
    onAuth(auth, _session, done) {
      if (auth.username === login?.username && auth.password === login?.password)
        done(null, { user: auth.username ?? '' });
      else done(new Error('the login is wrong'));
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        if (state.refuses) {
          done(new Error('no mail today'));
          return;
        }
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address).join(),
          source: Buffer.concat(chunks).toString('utf8'),
          encrypted: session.secure,
          greeting: session.hostNameAppearsAs,
          user: session.user,
        });
        done();
      });
    },
  });
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    get refuses() {
      return state.refuses;
    },
    set refuses(value) {
      state.refuses = value;
    },
    stop: () => server.close(),
  };
}

/** The link in a mail; the text part is quoted-printable. */
export function linkIn({ source }: ReceivedMail): URL {
  const plain = source
    .replaceAll(/=\r?\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)));
  const link = /https?:\/\/[^\s"<]+/.exec(plain)?.[0];
  if (link === undefined) throw new Error(`no link in the mail: ${source}`);
  return new URL(link);
}
