import { createRoute, createRouter, redirect } from '@tanstack/react-router';
import { RepositoryLayout } from './features/shell/repository-layout.tsx';
import { RepositoriesPage } from './features/repositories/repositories-page.tsx';
import { ObjectsPage } from './features/objects/objects-page.tsx';
import { lazyPage } from './kit/missing-part.tsx';
import { capabilitiesQuery, queryClient } from './lib/queries.ts';
import { administration } from './routes/administration.ts';
import { app, root, strings } from './routes/base.ts';

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad() {
    throw redirect({ to: '/repositories' });
  },
});

const setup = createRoute({
  getParentRoute: () => root,
  path: '/setup',
  validateSearch: strings('next'),
  component: lazyPage(() => import('./features/session/setup-page.tsx'), 'SetupPage'),
});

const login = createRoute({
  getParentRoute: () => root,
  path: '/auth/login',
  validateSearch: strings('next', 'redirected'),
  component: lazyPage(() => import('./features/session/login-page.tsx'), 'LoginPage'),
});

/** Links of invitations and forgotten passwords. */
const mailLinks = (['/auth/users/create', '/auth/resetpassword'] as const).map((path) =>
  createRoute({
    getParentRoute: () => root,
    path,
    validateSearch: strings('token', 'email'),
    async beforeLoad() {
      const { forgot_password: sendsMail } = await queryClient.ensureQueryData(capabilitiesQuery);
      if (sendsMail !== true) throw redirect({ to: '/auth/login' });
    },
    component: lazyPage(() => import('./features/session/password-page.tsx'), 'PasswordPage'),
  }),
);

/** Where `svcctl login` sends people. */
const cliLogin = createRoute({
  getParentRoute: () => app,
  path: '/auth/cli',
  validateSearch: strings('login'),
  component: lazyPage(() => import('./features/session/cli-login-page.tsx'), 'CliLoginPage'),
});

const repositories = createRoute({
  getParentRoute: () => app,
  path: '/repositories',
  validateSearch: strings('search', 'after', 'create', 'tab', 'sort'),
  component: RepositoriesPage,
});

const datasets = createRoute({
  getParentRoute: () => app,
  path: '/datasets',
  beforeLoad() {
    throw redirect({ to: '/repositories' });
  },
});

const repository = createRoute({
  getParentRoute: () => app,
  path: '/repositories/$repo',
  component: RepositoryLayout,
});

const repositoryHome = createRoute({
  getParentRoute: () => repository,
  path: '/',
  beforeLoad({ params }) {
    throw redirect({ to: '/repositories/$repo/objects', params });
  },
});

const objects = createRoute({
  getParentRoute: () => repository,
  path: '/objects',
  validateSearch: strings('ref', 'path', 'after', 'showChanges', 'upload', 'importDialog', 'q'),
  component: ObjectsPage,
});

const object = createRoute({
  getParentRoute: () => repository,
  path: '/object',
  validateSearch: strings('ref', 'path', 'tab', 'view', 'sql', 'line'),
  component: lazyPage(() => import('./features/viewer/object-page.tsx'), 'ObjectPage'),
});

const commits = createRoute({
  getParentRoute: () => repository,
  path: '/commits',
  validateSearch: strings('ref', 'after', 'path', 'since', 'graph', 'revert'),
  component: lazyPage(() => import('./features/commits/commits-page.tsx'), 'CommitsPage'),
});

const commit = createRoute({
  getParentRoute: () => repository,
  path: '/commits/$commitId',
  validateSearch: strings('prefix', 'parent', 'file'),
  component: lazyPage(() => import('./features/commits/commit-page.tsx'), 'CommitPage'),
});

const branches = createRoute({
  getParentRoute: () => repository,
  path: '/branches',
  validateSearch: strings('prefix', 'after', 'show_hidden', 'tab'),
  component: lazyPage(() => import('./features/branches/branches-page.tsx'), 'BranchesPage'),
});

const revert = createRoute({
  getParentRoute: () => repository,
  path: '/branches/$branch/revert',
  validateSearch: strings('commits'),
  component: lazyPage(() => import('./features/commits/revert-page.tsx'), 'RevertPage'),
});

const tags = createRoute({
  getParentRoute: () => repository,
  path: '/tags',
  validateSearch: strings('prefix', 'after', 'tab'),
  component: lazyPage(() => import('./features/branches/tags-page.tsx'), 'TagsPage'),
});

const pulls = createRoute({
  getParentRoute: () => repository,
  path: '/pulls',
  validateSearch: strings('prefix', 'after', 'status'),
  component: lazyPage(() => import('./features/pulls/pulls-page.tsx'), 'PullsPage'),
});

const repositoryActivity = createRoute({
  getParentRoute: () => repository,
  path: '/activity',
  validateSearch: strings('types'),
  component: lazyPage(() => import('./features/activity/activity-page.tsx'), 'RepositoryActivityPage'),
});

const history = createRoute({
  getParentRoute: () => repository,
  path: '/history',
  validateSearch: strings('ref', 'type', 'kind', 'user', 'since'),
  component: lazyPage(() => import('./features/time/history-page.tsx'), 'HistoryPage'),
});

const activity = createRoute({
  getParentRoute: () => app,
  path: '/activity',
  validateSearch: strings('types'),
  component: lazyPage(() => import('./features/activity/activity-page.tsx'), 'ActivityPage'),
});

const createPull = createRoute({
  getParentRoute: () => repository,
  path: '/pulls/create',
  validateSearch: strings('ref', 'compare', 'file'),
  component: lazyPage(() => import('./features/pulls/create-pull-page.tsx'), 'CreatePullPage'),
});

const pull = createRoute({
  getParentRoute: () => repository,
  path: '/pulls/$id',
  validateSearch: strings('tab', 'file'),
  component: lazyPage(() => import('./features/pulls/pull-page.tsx'), 'PullPage'),
});

const actions = createRoute({
  getParentRoute: () => repository,
  path: '/actions',
  validateSearch: strings('branch', 'commit', 'event', 'status'),
  component: lazyPage(() => import('./features/actions/runs-page.tsx'), 'RunsPage'),
});

const run = createRoute({
  getParentRoute: () => repository,
  path: '/actions/$runId',
  component: lazyPage(() => import('./features/actions/run-page.tsx'), 'RunPage'),
});

const compare = createRoute({
  getParentRoute: () => repository,
  path: '/compare',
  validateSearch: strings('ref', 'compare', 'prefix', 'mode', 'file'),
  component: lazyPage(() => import('./features/changes/compare-page.tsx'), 'ComparePage'),
});

const settings = createRoute({
  getParentRoute: () => repository,
  path: '/settings',
  component: lazyPage(() => import('./features/settings/settings-layout.tsx'), 'SettingsLayout'),
});

const settingsHome = createRoute({
  getParentRoute: () => settings,
  path: '/',
  beforeLoad({ params }) {
    throw redirect({ to: '/repositories/$repo/settings/general', params });
  },
});

const generalSettings = createRoute({
  getParentRoute: () => settings,
  path: '/general',
  component: lazyPage(() => import('./features/settings/general-settings.tsx'), 'GeneralSettings'),
});

const protectionSettings = createRoute({
  getParentRoute: () => settings,
  path: '/branches',
  component: lazyPage(() => import('./features/settings/protection-settings.tsx'), 'ProtectionSettings'),
});

const retentionSettings = createRoute({
  getParentRoute: () => settings,
  path: '/retention',
  component: lazyPage(() => import('./features/settings/retention-settings.tsx'), 'RetentionSettings'),
});

const routeTree = root.addChildren([
  home,
  setup,
  login,
  ...mailLinks,
  app.addChildren([
    repositories,
    datasets,
    activity,
    repository.addChildren([
      repositoryHome,
      objects,
      object,
      commits,
      commit,
      branches,
      revert,
      tags,
      pulls,
      createPull,
      pull,
      actions,
      run,
      compare,
      repositoryActivity,
      history,
      settings.addChildren([settingsHome, generalSettings, protectionSettings, retentionSettings]),
    ]),
    cliLogin,
    administration,
  ]),
]);

export const router = createRouter({
  routeTree,
  defaultPreload: false,
  scrollRestoration: true,
  // Plain text values, as bookmarks and other tools write them.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch(search) {
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries(search)) {
      if (typeof value === 'string' && value !== '') query.set(key, value);
    }
    const text = query.toString();
    return text === '' ? '' : `?${text}`;
  },
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
