import { ActionIcon, Menu, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { spotlight } from '@mantine/spotlight';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import {
  CircleArrowUp,
  CircleUserRound,
  Keyboard,
  KeyRound,
  LogOut,
  Monitor,
  Moon,
  Search,
  SlidersHorizontal,
  Sun,
} from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import type { ReactNode } from 'react';
import { forgetSession } from '../../lib/login.ts';
import { configQuery, queryClient, useLoginConfig, userQuery } from '../../lib/queries.ts';
import { openHelp } from './shortcuts.tsx';

const PreferencesDialog = lazy(async () => ({
  default: (await import('./preferences-dialog.tsx')).PreferencesDialog,
}));

export function Logo({ size = 22 }: { size?: number }): ReactNode {
  return <img src="/favicon.svg" width={size} height={size} alt="" />;
}

export function TopBar(): ReactNode {
  const user = useQuery(userQuery).data;
  const version = useQuery(configQuery).data?.version_config;
  const loginConfig = useLoginConfig();
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme('light');
  const [choosing, setChoosing] = useState(false);
  const name = user?.friendly_name || user?.email || user?.id || '';
  const logOut = (): void => {
    queryClient.clear();
    forgetSession();
    globalThis.location.assign(loginConfig?.logout_url || '/logout');
  };
  return (
    <header className="topbar">
      <Link to="/repositories" className="brand" aria-label="svc, all repositories">
        <Logo />
        <span className="hide-narrow">svc</span>
      </Link>
      <nav aria-label="Main">
        <Link to="/repositories" activeOptions={{ includeSearch: false }}>
          Repositories
        </Link>
        <Link to="/activity" activeOptions={{ includeSearch: false }}>
          Activity
        </Link>
        <Link to="/auth">
          <span className="hide-narrow">Administration</span>
          <span className="only-narrow">Admin</span>
        </Link>
      </nav>
      <span className="right" />
      <button
        type="button"
        className="search-button"
        onClick={() => spotlight.open()}
        aria-label="Search or jump to … Ctrl K"
      >
        <Search size={15} aria-hidden />
        <span className="hide-narrow">Search or jump to …</span>
        <kbd className="hide-narrow">Ctrl K</kbd>
      </button>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size={34} aria-label="Theme">
            {scheme === 'dark' ? <Moon size={17} /> : <Sun size={17} />}
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<Monitor size={15} />} onClick={() => setColorScheme('auto')}>
            As the system
          </Menu.Item>
          <Menu.Item leftSection={<Sun size={15} />} onClick={() => setColorScheme('light')}>
            Light
          </Menu.Item>
          <Menu.Item leftSection={<Moon size={15} />} onClick={() => setColorScheme('dark')}>
            Dark
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Menu position="bottom-end" width={230}>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size={34} aria-label={`Account of ${name}`}>
            <CircleUserRound size={19} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>Logged in as {name}</Menu.Label>
          <Menu.Item leftSection={<KeyRound size={15} />} component={Link} to="/auth/credentials">
            My access keys
          </Menu.Item>
          <Menu.Item leftSection={<SlidersHorizontal size={15} />} onClick={() => setChoosing(true)}>
            Preferences
          </Menu.Item>
          <Menu.Item leftSection={<Keyboard size={15} />} onClick={openHelp}>
            Keyboard shortcuts
          </Menu.Item>
          <Menu.Item leftSection={<LogOut size={15} />} onClick={logOut}>
            Log out
          </Menu.Item>
          <Menu.Divider />
          {version?.upgrade_recommended === true && (
            <Menu.Item
              component="a"
              href={version.upgrade_url}
              target="_blank"
              rel="noopener noreferrer"
              leftSection={<CircleArrowUp size={15} />}
            >
              A new version is available
            </Menu.Item>
          )}
          <Menu.Label>Version {version?.version ?? ''}</Menu.Label>
        </Menu.Dropdown>
      </Menu>
      {choosing && (
        <Suspense>
          <PreferencesDialog onClose={() => setChoosing(false)} />
        </Suspense>
      )}
    </header>
  );
}
