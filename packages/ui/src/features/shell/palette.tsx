import { useMantineColorScheme } from '@mantine/core';
import { Spotlight, spotlight } from '@mantine/spotlight';
import type { SpotlightActionData, SpotlightActionGroupData } from '@mantine/spotlight';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useRouterState } from '@tanstack/react-router';
import { File, FolderGit2, GitBranch, Search, SunMoon } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { client } from '../../lib/api.ts';
import { fileNamesQuery } from '../../lib/file-names.ts';
import { findFiles } from '../../lib/find-files.ts';
import { formatCount, shortId } from '../../lib/format.ts';
import { repositoryQuery } from '../../lib/queries.ts';
import { onOpenPalette } from './open-palette.tsx';
import { openHelp } from './shortcuts.tsx';

const resultsId = 'palette-results';

/** Tells screen readers which result is selected: the library marks it for the eye only. */
function tellSelected(): () => void {
  const tell = (): void => {
    const results = document.querySelector(`#${resultsId}`);
    let selected = '';
    for (const [index, option] of [...(results?.querySelectorAll('[role=option]') ?? [])].entries()) {
      option.id = `${resultsId}-${index}`;
      const isSelected = option.hasAttribute('data-selected');
      option.setAttribute('aria-selected', String(isSelected));
      if (isSelected) selected = option.id;
    }
    const input = document.querySelector(`[aria-controls=${resultsId}]`);
    if (selected === '') input?.removeAttribute('aria-activedescendant');
    else input?.setAttribute('aria-activedescendant', selected);
  };
  const observer = new MutationObserver(tell);
  observer.observe(document.body, { subtree: true, childList: true, attributeFilter: ['data-selected'] });
  tell();
  return () => observer.disconnect();
}

/** Ctrl K: repositories, branches and files of this repository, pages and commands. */
export function Palette(): ReactNode {
  const navigate = useNavigate();
  const { setColorScheme, colorScheme } = useMantineColorScheme();
  const [query, setQuery] = useState('');
  const [opened, setOpened] = useState(false);
  const pathname = useRouterState({ select: (state) => state.location.pathname });
  const part = /^\/repositories\/([^/]+)/.exec(pathname)?.[1];
  const repo = part === undefined ? undefined : decodeURIComponent(part);
  const refInAddress = useRouterState({
    select: (state) => (state.location.search as { ref?: string }).ref,
  });
  const text = query.trim();
  useEffect(() => {
    spotlight.open();
    return onOpenPalette(spotlight.open);
  }, []);
  useEffect(() => (opened ? tellSelected() : undefined), [opened]);

  const repositories = useQuery({
    queryKey: ['palette-repositories', text],
    queryFn: ({ signal }) =>
      client.get('/repositories', { params: { query: { search: text, amount: 8 } }, signal }),
    enabled: opened,
    placeholderData: (previous) => previous,
  });
  const branches = useQuery({
    queryKey: ['palette-branches', repo, text],
    queryFn: ({ signal }) =>
      client.get('/repositories/{repository}/branches', {
        params: { path: { repository: repo ?? '' }, query: { search: text, amount: 8 } },
        signal,
      }),
    enabled: opened && repo !== undefined,
    placeholderData: (previous) => previous,
  });

  const { data: place } = useQuery({ ...repositoryQuery(repo ?? ''), enabled: opened && repo !== undefined });
  const ref = refInAddress ?? place?.default_branch ?? '';
  const { data: files } = useQuery({
    ...fileNamesQuery(repo ?? '', ref),
    enabled: opened && repo !== undefined && ref !== '' && text.length > 1,
  });

  const groups: SpotlightActionGroupData[] = [];
  if (repo !== undefined) {
    const page = (
      label: string,
      to:
        | '/repositories/$repo/objects'
        | '/repositories/$repo/commits'
        | '/repositories/$repo/branches'
        | '/repositories/$repo/tags'
        | '/repositories/$repo/pulls'
        | '/repositories/$repo/actions'
        | '/repositories/$repo/compare'
        | '/repositories/$repo/settings/general'
        | '/repositories/$repo/pulls/create',
    ): SpotlightActionData => ({
      id: `page-${label}`,
      label,
      onClick: () => void navigate({ to, params: { repo } }),
    });
    const looked = (branches.data?.results ?? []).map(({ id }): SpotlightActionData => ({
      id: `branch-${id}`,
      label: id,
      description: `Branch of ${repo}`,
      leftSection: <GitBranch size={16} />,
      onClick: () =>
        void navigate({ to: '/repositories/$repo/objects', params: { repo }, search: { ref: id } }),
    }));
    groups.push({
      group: repo,
      actions: [
        page('Data', '/repositories/$repo/objects'),
        page('Commits', '/repositories/$repo/commits'),
        page('Branches', '/repositories/$repo/branches'),
        page('Tags', '/repositories/$repo/tags'),
        page('Pull requests', '/repositories/$repo/pulls'),
        page('New pull request', '/repositories/$repo/pulls/create'),
        page('Actions', '/repositories/$repo/actions'),
        page('Compare', '/repositories/$repo/compare'),
        page('Settings', '/repositories/$repo/settings/general'),
      ].filter(({ label }) => label?.toLowerCase().includes(text.toLowerCase()) === true),
    });
    if (looked.length > 0) groups.push({ group: 'Branches', actions: looked });
    const found = findFiles(files?.paths ?? [], text, 8);
    if (found.length > 0) {
      groups.push({
        group:
          files?.complete === true
            ? 'Files'
            : `Files, among the first ${formatCount(files?.paths.length ?? 0)}`,
        actions: found.map((path) => ({
          id: `file-${path}`,
          label: path,
          description: `on ${shortId(ref)}`,
          leftSection: <File size={16} />,
          onClick: () =>
            void navigate({ to: '/repositories/$repo/object', params: { repo }, search: { ref, path } }),
        })),
      });
    }
    if (text.includes('/')) {
      groups.push({
        group: 'Path',
        actions: [
          {
            id: 'path',
            label: `Open ${text}`,
            description: `on ${shortId(ref)}`,
            onClick: () =>
              void navigate({
                to: text.endsWith('/') ? '/repositories/$repo/objects' : '/repositories/$repo/object',
                params: { repo },
                search: { ref: refInAddress, path: text },
              }),
          },
        ],
      });
    }
  }
  groups.push({
    group: 'Repositories',
    actions: (repositories.data?.results ?? []).map(({ id, storage_namespace }) => ({
      id: `repository-${id}`,
      label: id,
      description: storage_namespace,
      leftSection: <FolderGit2 size={16} />,
      onClick: () => void navigate({ to: '/repositories/$repo/objects', params: { repo: id } }),
    })),
  });
  groups.push({
    group: 'Commands',
    actions: [
      {
        id: 'create',
        label: 'Create repository',
        onClick: () => void navigate({ to: '/repositories', search: { create: 'true' } }),
      },
      { id: 'keys', label: 'My access keys', onClick: () => void navigate({ to: '/auth/credentials' }) },
      { id: 'users', label: 'Users', onClick: () => void navigate({ to: '/auth/users' }) },
      { id: 'policies', label: 'Policies', onClick: () => void navigate({ to: '/auth/policies' }) },
      {
        id: 'theme',
        label: 'Switch between light and dark',
        leftSection: <SunMoon size={16} />,
        onClick: () => setColorScheme(colorScheme === 'dark' ? 'light' : 'dark'),
      },
      { id: 'help', label: 'Keyboard shortcuts', onClick: openHelp },
    ].filter(({ label }) => label.toLowerCase().includes(text.toLowerCase())),
  });

  const results = groups
    .filter(({ actions }) => actions.length > 0)
    .map(({ group, actions }) => ({
      group,
      actions: actions.map((action) => ({ ...action, role: 'option' })),
    }));
  return (
    <Spotlight
      actions={results}
      query={query}
      onQueryChange={setQuery}
      onSpotlightOpen={() => setOpened(true)}
      onSpotlightClose={() => setOpened(false)}
      shortcut={null}
      // The server has filtered already.
      filter={(_query, actions) => actions}
      nothingFound="Nothing found"
      highlightQuery
      scrollAreaProps={{ id: resultsId, role: 'listbox', 'aria-label': 'Results' }}
      scrollable
      maxHeight={440}
      transitionProps={{ duration: 0 }}
      searchProps={{
        leftSection: <Search size={18} />,
        placeholder: 'Repository, branch, file or command',
        'aria-label': 'Search or run a command',
        role: 'combobox',
        'aria-expanded': results.length > 0,
        'aria-controls': resultsId,
        'aria-autocomplete': 'list',
        onKeyDown(event) {
          // Late answers clear the selection; Enter then takes the first of them.
          if (event.key !== 'Enter') return;
          const actions = document.querySelector('.mantine-Spotlight-actionsList');
          if (actions?.querySelector('[data-selected]') === null) {
            actions.querySelector<HTMLElement>('.mantine-Spotlight-action')?.click();
          }
        },
      }}
    />
  );
}
