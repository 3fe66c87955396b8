import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { Button } from '@mantine/core';
import { lazyRouteComponent } from '@tanstack/react-router';
import type { RouteComponent } from '@tanstack/react-router';
import { Notice } from './basics.tsx';

const askEveryMs = 2000;
const reloadedKey = 'svc:ui:reloaded-for';

/** A page whose code comes when it is first shown. Where it cannot come, the page says so and waits for the server. */
export function lazyPage<Module extends object>(
  load: () => Promise<Module>,
  name: keyof Module & string,
): RouteComponent {
  const loadOrTell = (): Promise<Module> =>
    load().catch(() => ({ [name]: MissingPart }) as unknown as Module);
  return lazyRouteComponent(loadOrTell, name);
}

/** Shown instead of a page whose code did not come; shows the page itself once the server answers. */
function MissingPart(): ReactNode {
  const [isTried, setTried] = useState(false);
  useEffect(() => {
    let wasDown = false;
    const ask = async (): Promise<void> => {
      const isUp = await fetch('/_health', { cache: 'no-store' }).then(
        ({ ok }) => ok,
        () => false,
      );
      const place = globalThis.location.href;
      // A server that was there all along has another version of the page: loaded anew once, not for ever.
      if (isUp && (wasDown || sessionStorage.getItem(reloadedKey) !== place)) {
        sessionStorage.setItem(reloadedKey, place);
        globalThis.location.reload();
        return;
      }
      wasDown ||= !isUp;
      setTried(true);
    };
    void ask();
    const timer = setInterval(() => void ask(), askEveryMs);
    return () => clearInterval(timer);
  }, []);
  if (!isTried) return null;
  return (
    <Notice kind="error" title="The server cannot be reached">
      <div>This page was not loaded. It is shown as soon as the server answers again.</div>
      <div className="row after">
        <Button variant="default" size="compact-sm" onClick={() => globalThis.location.reload()}>
          Try again
        </Button>
      </div>
    </Notice>
  );
}
