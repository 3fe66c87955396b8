import type { Mail } from '../sources/contract.ts';

export function resetMail(to: string, link: string): Mail {
  return mail(to, 'Reset your password', {
    before: 'Somebody, hopefully you, asked for a new password for your account.',
    action: 'Choose a new password',
    link,
    after:
      'The link works once, within 20 minutes. If it was not you, ignore this mail: your password stays as it is.',
  });
}

export function invitationMail(to: string, link: string): Mail {
  return mail(to, 'You have been invited', {
    before: 'You have been invited to svc, version control for data.',
    action: 'Choose your password',
    link,
    after: 'The link works once, within 6 hours.',
  });
}

interface Parts {
  readonly before: string;
  readonly action: string;
  readonly link: string;
  readonly after: string;
}

function mail(to: string, subject: string, { before, action, link, after }: Parts): Mail {
  return {
    to,
    subject,
    text: `${before}\n\n${action}: ${link}\n\n${after}\n`,
    html: `<!doctype html><html lang="en"><body>
<p>${escape(before)}</p>
<p><a href="${escape(link)}">${escape(action)}</a></p>
<p>${escape(after)}</p>
</body></html>
`,
  };
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
