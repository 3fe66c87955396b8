import { Type } from 'typebox';
import { int64, text } from './values.ts';

const base64url = (least: number, most: number) =>
  Type.String({ pattern: `^[A-Za-z0-9_-]{${least},${most}}$` });

export const CliLoginStart = Type.Object(
  {
    /** SHA-256 of the verifier. */
    challenge: base64url(43, 43),
    /** Shown to the person who approves. */
    host: Type.String({ pattern: '^[A-Za-z0-9._-]{1,255}$' }),
    /** Where the program listens for the browser, which is on the same machine. */
    callback: Type.Optional(
      Type.Object({ port: Type.Integer({ minimum: 1024, maximum: 65_535 }), state: base64url(22, 128) }),
    ),
  },
  { title: 'CliLoginStart' },
);

export const CliLogin = Type.Object(
  { name: text, host: text, source_ip: text, expiration_date: int64 },
  { title: 'CliLogin' },
);

export const CliLoginApproval = Type.Object(
  {
    /** Where the browser goes next, when the program listens for it. */
    redirect: Type.Optional(text),
  },
  { title: 'CliLoginApproval' },
);

export const CliLoginProof = Type.Object(
  {
    verifier: base64url(43, 128),
    /** What the browser brought, when the program listened for it. */
    code: Type.Optional(base64url(1, 128)),
  },
  { title: 'CliLoginProof' },
);

export const CliLoginResult = Type.Object(
  {
    /** Absent as long as nobody has approved the login. */
    token: Type.Optional(text),
    token_expiration: Type.Optional(int64),
  },
  { title: 'CliLoginResult' },
);
