import { Button } from '@mantine/core';
import { useIsFetching } from '@tanstack/react-query';
import { Link, Outlet, useRouter } from '@tanstack/react-router';
import { Compass } from 'lucide-react';
import { useEffect } from 'react';
import type { ReactNode } from 'react';
import { EmptyState, ErrorNotice, Notice, usePageTitle } from '../../kit/basics.tsx';
import { LoginDialog } from '../session/login-dialog.tsx';
import { SessionNotice } from '../session/session-notice.tsx';
import { TrayOnDemand } from '../tray/tray-on-demand.tsx';
import { PaletteOnDemand } from './open-palette.tsx';
import { Shortcuts } from './shortcuts.tsx';
import { TopBar } from './top-bar.tsx';
import { useOnline } from './use-online.ts';

export function RootLayout(): ReactNode {
  const router = useRouter();
  useEffect(() => {
    const off = router.subscribe('onResolved', ({ pathChanged, fromLocation }) => {
      if (fromLocation === undefined) return;
      // A screen reader hears the new page; somebody typing is left alone. Within a page the focus stays, unless
      // what had it is gone.
      const { activeElement } = document;
      if (pathChanged ? activeElement instanceof HTMLInputElement : activeElement !== document.body) return;
      document.querySelector<HTMLElement>('main')?.focus({ preventScroll: true });
    });
    // A page that comes back as it was left may be of a session that has ended since.
    const onPageShow = (event: PageTransitionEvent): void => {
      if (event.persisted) globalThis.location.reload();
    };
    globalThis.addEventListener('pageshow', onPageShow);
    return () => {
      off();
      globalThis.removeEventListener('pageshow', onPageShow);
    };
  }, [router]);
  return <Outlet />;
}

/** The frame around every page for logged-in users. */
export function AppLayout(): ReactNode {
  const online = useOnline();
  const fetching = useIsFetching({ predicate: (query) => query.state.data !== undefined }) > 0;
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      {fetching && <div className="loading-bar" aria-hidden />}
      <TopBar />
      {!online && (
        <div className="banner">
          <Notice kind="warn" title="You are offline">
            Nothing can be read or written until the connection is back.
          </Notice>
        </div>
      )}
      <SessionNotice />
      <Outlet />
      <LoginDialog />
      <PaletteOnDemand />
      <TrayOnDemand />
      <Shortcuts />
    </>
  );
}

/** The content of a page; one per screen. */
export function Main({ children, narrow = false }: { children: ReactNode; narrow?: boolean }): ReactNode {
  return (
    <main id="main" tabIndex={-1} className={narrow ? 'narrow' : undefined}>
      {children}
    </main>
  );
}

export function NotFoundPage(): ReactNode {
  usePageTitle('Page not found');
  return (
    <Main>
      <h1 className="visually-hidden">Page not found</h1>
      <EmptyState
        icon={<Compass size={36} aria-hidden />}
        title="There is no page at this address"
        actions={
          <Button component={Link} to="/repositories">
            Go to repositories
          </Button>
        }
      >
        The address may have been typed wrongly, or what it showed was removed.
      </EmptyState>
    </Main>
  );
}

export function FailedPage({ error }: { error: unknown }): ReactNode {
  usePageTitle('This page cannot be shown');
  // After an update the server no longer has the files of an open page.
  const isStale = error instanceof Error && /dynamically imported module|module script/i.test(error.message);
  return (
    <Main narrow>
      <h1>{isStale ? 'A new version is here' : 'This page cannot be shown'}</h1>
      <div className="stack">
        {isStale ? (
          <Notice>The server was updated while this page was open.</Notice>
        ) : (
          <ErrorNotice error={error} />
        )}
        <div>
          <Button onClick={() => globalThis.location.reload()}>
            {isStale ? 'Reload to update' : 'Reload'}
          </Button>
        </div>
      </div>
    </Main>
  );
}
