import { Button } from '@mantine/core';
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { Notice } from '../../kit/basics.tsx';
import { plural } from '../../lib/format.ts';
import { sessionEnd } from '../../lib/login.ts';
import { askLogin } from '../../lib/session.ts';
import { usePreference } from '../../lib/use-preference.ts';

const warnSeconds = 5 * 60;

/** Offers to renew the session five minutes before it ends. */
export function SessionNotice(): ReactNode {
  const [end] = usePreference<number>(sessionEnd, 0);
  const [now, setNow] = useState(() => Date.now() / 1000);
  const left = end - now;
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now() / 1000), 15_000);
    return () => clearInterval(timer);
  }, []);
  // After the end the next request asks for a login by itself.
  if (end === 0 || left <= 0 || left > warnSeconds) return null;
  return (
    <div className="banner" role="status">
      <Notice kind="warn" title="Your session ends soon">
        <div className="row">
          <span>
            In {left < 90 ? 'about a minute' : plural(Math.floor(left / 60), 'minute')} you will have to log
            in again.
          </span>
          <Button size="compact-sm" variant="default" onClick={() => void askLogin('ending')}>
            Renew
          </Button>
        </div>
      </Notice>
    </div>
  );
}
