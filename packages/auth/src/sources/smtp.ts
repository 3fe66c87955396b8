import { createTransport, type Transporter } from 'nodemailer';
import type { Mail, Mailer } from './contract.ts';

export interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; otherwise STARTTLS when it is offered. */
  readonly useSsl: boolean;
  /** Empty for no login. */
  readonly username: string;
  readonly password: string;
  /** The name sent in the greeting. */
  readonly localName: string;
  readonly sender: string;
  /** Certificates to trust in place of the system's, as PEM. */
  readonly ca?: string | undefined;
}

/** Sends mail through one SMTP server. */
export class SmtpMailer implements Mailer {
  readonly #transport: Transporter;
  readonly #sender: string;

  constructor(settings: SmtpSettings) {
    this.#sender = settings.sender;
    this.#transport = createTransport({
      host: settings.host,
      port: settings.port,
      secure: settings.useSsl,
      name: settings.localName,
      ...(settings.username !== '' && { auth: { user: settings.username, pass: settings.password } }),
      ...(settings.ca !== undefined && { tls: { ca: settings.ca } }),
      connectionTimeout: 10_000,
      greetingTimeout: 10_000,
      socketTimeout: 30_000,
    });
  }

  async send({ to, subject, text, html }: Mail): Promise<void> {
    await this.#transport.sendMail({
      from: this.#sender,
      to: { name: '', address: to },
      subject,
      text,
      html,
    });
  }
}
