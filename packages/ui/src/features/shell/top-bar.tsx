import { ActionIcon, useComputedColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleUserRound, Moon, Search, Sun } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import mark from '../../favicon.svg';
import { onDemand } from '../../kit/on-demand.tsx';
import type { TargetProps } from '../../kit/target-props.ts';
import { userQuery } from '../../lib/queries.ts';
import { openPalette } from './open-palette.tsx';

const PreferencesDialog = onDemand(async () => (await import('./preferences-dialog.tsx')).PreferencesDialog);

const OpenedThemeMenu = onDemand(async () => (await import('./bar-menus.tsx')).OpenedThemeMenu);
const OpenedAccountMenu = onDemand(async () => (await import('./bar-menus.tsx')).OpenedAccountMenu);

export function ThemeButton(button: TargetProps): ReactNode {
  const scheme = useComputedColorScheme('light');
  return (
    <ActionIcon variant="subtle" color="gray" size={34} aria-label="Theme" {...button}>
      {scheme === 'dark' ? <Moon size={17} /> : <Sun size={17} />}
    </ActionIcon>
  );
}

function ThemeMenu(): ReactNode {
  const [isAsked, setAsked] = useState(false);
  const button = <ThemeButton aria-haspopup="menu" onClick={() => setAsked(true)} />;
  return isAsked ? <OpenedThemeMenu waiting={button} /> : button;
}

export function AccountButton({ name, ...button }: { name: string } & TargetProps): ReactNode {
  return (
    <ActionIcon variant="subtle" color="gray" size={34} aria-label={`Account of ${name}`} {...button}>
      <CircleUserRound size={19} />
    </ActionIcon>
  );
}

function AccountMenu(props: { name: string; onPreferences: () => void }): ReactNode {
  const [isAsked, setAsked] = useState(false);
  const button = <AccountButton name={props.name} aria-haspopup="menu" onClick={() => setAsked(true)} />;
  return isAsked ? <OpenedAccountMenu {...props} waiting={button} /> : button;
}

export function Logo({ size = 22 }: { size?: number }): ReactNode {
  return <img src={mark} width={size} height={size} alt="" />;
}

export function TopBar(): ReactNode {
  const user = useQuery(userQuery).data;
  const [choosing, setChoosing] = useState(false);
  const name = user?.friendly_name || user?.email || user?.id || '';
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
        onClick={openPalette}
        aria-label="Search or jump to … Ctrl K"
      >
        <Search size={15} aria-hidden />
        <span className="hide-narrow">Search or jump to …</span>
        <kbd className="hide-narrow">Ctrl K</kbd>
      </button>
      <ThemeMenu />
      <AccountMenu name={name} onPreferences={() => setChoosing(true)} />
      {choosing && <PreferencesDialog onClose={() => setChoosing(false)} />}
    </header>
  );
}
