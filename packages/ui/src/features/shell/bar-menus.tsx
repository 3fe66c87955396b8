import { Menu, useMantineColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import {
  BookOpen,
  CircleArrowUp,
  Keyboard,
  KeyRound,
  LogOut,
  Monitor,
  Moon,
  SlidersHorizontal,
  Sun,
} from 'lucide-react';
import type { ReactNode } from 'react';
import { forgetSession } from '../../lib/login.ts';
import { configQuery, queryClient, setupQuery } from '../../lib/queries.ts';
import { openHelp } from './shortcuts.tsx';
import { AccountButton, ThemeButton } from './top-bar.tsx';

async function logOut(): Promise<void> {
  // The server itself logs out where nothing says otherwise.
  const setup = await queryClient.ensureQueryData(setupQuery).catch(() => undefined);
  queryClient.clear();
  forgetSession();
  globalThis.location.assign(setup?.login_config?.logout_url || '/logout');
}

export function OpenedThemeMenu(): ReactNode {
  const { setColorScheme } = useMantineColorScheme();
  return (
    <Menu position="bottom-end" defaultOpened>
      <Menu.Target>
        <ThemeButton />
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
  );
}

export function OpenedAccountMenu({
  name,
  onPreferences,
}: {
  name: string;
  onPreferences: () => void;
}): ReactNode {
  return (
    <Menu position="bottom-end" width={230} defaultOpened>
      <Menu.Target>
        <AccountButton name={name} />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Logged in as {name}</Menu.Label>
        <Menu.Item leftSection={<KeyRound size={15} />} component={Link} to="/auth/credentials">
          My access keys
        </Menu.Item>
        <Menu.Item leftSection={<SlidersHorizontal size={15} />} onClick={onPreferences}>
          Preferences
        </Menu.Item>
        <Menu.Item leftSection={<Keyboard size={15} />} onClick={openHelp}>
          Keyboard shortcuts
        </Menu.Item>
        <Menu.Item leftSection={<BookOpen size={15} />} component="a" href="/docs/" target="_blank">
          Documentation
        </Menu.Item>
        <Menu.Item leftSection={<LogOut size={15} />} onClick={() => void logOut()}>
          Log out
        </Menu.Item>
        <Menu.Divider />
        <Version />
      </Menu.Dropdown>
    </Menu>
  );
}

/** Which version this is; asked for when the menu opens. */
function Version(): ReactNode {
  const version = useQuery(configQuery).data?.version_config;
  return (
    <>
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
    </>
  );
}
